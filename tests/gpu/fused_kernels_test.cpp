// The fused kernels on the GPU against their references on the CPU in float64, from the same rounded inputs,
// which are drawn anew every time. Sizes are such that no block and no pack divides them, and the model's.
#include <ATen/ATen.h>

#include "lockstep/kernels/add_rows.h"
#include "lockstep/kernels/product.h"
#include "lockstep/kernels/rms_norm.h"
#include "lockstep/kernels/rotary.h"
#include "lockstep/kernels/scaled.h"
#include "lockstep/kernels/side_by_side.h"
#include "lockstep/kernels/softmax_loss.h"
#include "lockstep/kernels/swiglu.h"
#include "tests/gpu/gpu_test.h"

namespace lockstep {
namespace {

constexpr at::ScalarType kTypes[] = {at::kDouble, at::kFloat, at::kBFloat16};

// Of the norm of the right result. bf16: one rounding of the output is 2^-9 at most.
double tolerance(at::ScalarType type) {
  return type == at::kDouble ? 1e-12 : type == at::kFloat ? 2e-6 : 4e-3;
}

class GpuKernels : public testing::GpuTest {
 protected:
  // What the allocator hands out next holds NaN, so that an element that is not written shows.
  static void poison() { at::full({1 << 25}, NAN, at::TensorOptions().device(at::kCUDA)); }

  static at::Tensor random(at::IntArrayRef sizes, at::ScalarType type) {
    return at::randn(sizes, at::kFloat).to(type);
  }

  static void expect_near(const char* what, const at::Tensor& got, const at::Tensor& right,
                          at::ScalarType type, double slack = 1) {
    const auto wide = got.cpu().to(at::kDouble);
    const double error = (wide - right).norm().item<double>() / right.norm().item<double>();
    EXPECT_LE(error, slack * tolerance(type)) << what << " " << type << " " << got.sizes();
  }
};

at::Tensor gpu(const at::Tensor& x) { return x.to(at::kCUDA); }
at::Tensor wide(const at::Tensor& x) { return x.to(at::kDouble); }

TEST_F(GpuKernels, SwigluHasTheResultsOfTheCpu) {
  for (const auto type : kTypes) {
    for (const int64_t n : {7, 2048, 100'003, 8960 * 64}) {  // of 1 the result may be all cancelled
      const auto gate = random({n}, type), up = random({n}, type), y_grad = random({n}, type);
      poison();
      expect_near("y", kernels::swiglu(gpu(gate), gpu(up)), kernels::swiglu(wide(gate), wide(up)), type);
      const auto [gate_grad, up_grad, again] = kernels::swiglu_backward(gpu(y_grad), gpu(gate), gpu(up));
      const auto [right_gate, right_up, right_y] =
          kernels::swiglu_backward(wide(y_grad), wide(gate), wide(up));
      expect_near("y again", again, right_y, type);
      expect_near("d gate", gate_grad, right_gate, type);
      expect_near("d up", up_grad, right_up, type);
    }
  }
}

TEST_F(GpuKernels, SwigluTakesColumns) {
  for (const auto type : kTypes) {
    for (const int64_t width : {8960, 24, 7}) {
      const auto columns = random({2, 33, 2 * width}, type).split_with_sizes({width, width}, -1);
      const auto on_gpu = gpu(at::cat(columns, -1)).split_with_sizes({width, width}, -1);
      const auto y_grad = random({2, 33, width}, type);
      poison();
      expect_near("y", kernels::swiglu(on_gpu[0], on_gpu[1]),
                  kernels::swiglu(wide(columns[0]), wide(columns[1])), type);
      const auto [gate_grad, up_grad, y] = kernels::swiglu_backward(gpu(y_grad), on_gpu[0], on_gpu[1]);
      const auto [right_gate, right_up, right_y] =
          kernels::swiglu_backward(wide(y_grad), wide(columns[0]), wide(columns[1]));
      EXPECT_TRUE(kernels::joined_columns({gate_grad, up_grad}).has_value());
      expect_near("y again", y, right_y, type);
      expect_near("d gate", gate_grad, right_gate, type);
      expect_near("d up", up_grad, right_up, type);
    }
  }
}

TEST_F(GpuKernels, SwigluTakesWhatIsNotAligned) {
  const auto gate = random({1025}, at::kBFloat16), up = random({1025}, at::kBFloat16);
  const auto shifted = [](const at::Tensor& x) { return gpu(x).narrow(0, 1, 1024); };
  const auto cut = [](const at::Tensor& x) { return wide(x).narrow(0, 1, 1024); };
  expect_near("y", kernels::swiglu(shifted(gate), shifted(up)), kernels::swiglu(cut(gate), cut(up)),
              at::kBFloat16);
}

TEST_F(GpuKernels, RmsNormHasTheResultsOfTheCpu) {
  for (const auto type : kTypes) {
    for (const auto& [rows, width] : {std::pair<int64_t, int64_t>{1, 3},
                                      {3, 7},
                                      {17, 64},
                                      {257, 1536},
                                      {33, 1000},
                                      {5, 8193},
                                      {3, 16384},
                                      {1025, 128}}) {
      const auto x = random({rows, width}, type), residual = random({rows, width}, type);
      const auto weight = random({width}, type);
      const auto y_grad = random({rows, width}, type), h_grad = random({rows, width}, type);
      for (const bool sum : {false, true}) {
        const auto added = [&](const at::Tensor& t) {
          return sum ? std::optional<at::Tensor>(t) : std::nullopt;
        };
        poison();
        const auto [y, h, r] = kernels::rms_norm(gpu(x), added(gpu(residual)), gpu(weight), 1e-6);
        const auto [right_y, right_h, right_r] =
            kernels::rms_norm(wide(x), added(wide(residual)), wide(weight), 1e-6);
        // In bf16 h is rounded before it is normed.
        expect_near("y", y, right_y, type, 2);
        expect_near("h", h, right_h, type);
        expect_near("r", r, right_r, type);
        poison();
        const auto dw = gpu(at::empty_like(weight)), right_dw = wide(at::empty_like(weight));
        const auto dh = kernels::rms_norm_backward(dw, gpu(y_grad), added(gpu(h_grad)), h, gpu(weight), r);
        const auto right_dh = kernels::rms_norm_backward(right_dw, wide(y_grad), added(wide(h_grad)),
                                                         wide(h.cpu()), wide(weight), wide(r.cpu()));
        expect_near("dh", dh, right_dh, type, 2);
        expect_near("dw", dw, right_dw, type, 2);
      }
    }
  }
}

TEST_F(GpuKernels, RmsNormGivesTheSameBitsAgain) {
  const auto h = gpu(random({4099, 1536}, at::kBFloat16)), y_grad = gpu(random({4099, 1536}, at::kBFloat16));
  const auto weight = gpu(random({1536}, at::kBFloat16)), r = gpu(at::rand({4099}));
  const auto weight_grad = [&] {
    const auto dw = at::empty_like(weight);
    kernels::rms_norm_backward(dw, y_grad, std::nullopt, h, weight, r);
    return dw;
  };
  const auto first = weight_grad();
  for (int run = 0; run < 5; ++run) EXPECT_TRUE(at::equal(weight_grad(), first));
}

using Parts = std::vector<at::Tensor>;

template <typename Make>
Parts each(const Parts& parts, const Make& make) {
  Parts made;
  for (const at::Tensor& part : parts) made.push_back(make(part));
  return made;
}

Parts turned(const Parts& x, const at::Tensor& cos, const at::Tensor& sin, bool inverse) {
  const Parts y = each(x, [](const at::Tensor& part) { return at::empty_like(part); });
  kernels::rotary(y, x, cos, sin, inverse);
  return y;
}

TEST_F(GpuKernels, RotaryHasTheResultsOfTheCpuInAnyLayout) {
  for (const auto type : kTypes) {
    for (const auto& [heads, width] : {std::pair<int64_t, int64_t>{12, 128}, {3, 6}, {1, 64}, {5, 80}}) {
      const int64_t groups = (heads + 1) / 2, all = heads + 2 * groups;
      const auto angle = at::rand({2, 1, 37, width / 2}) * 100;
      const auto cos = angle.cos().to(type), sin = angle.sin().to(type);
      const auto parts_of = [&](const at::Tensor& x) {
        return Parts{x.narrow(1, 0, heads), x.narrow(1, heads, groups), x.narrow(1, heads + groups, groups)};
      };
      const auto expect = [&](const char* name, const Parts& y, const Parts& right) {
        for (size_t i = 0; i < 3; ++i) expect_near(name, y[i], right[i], type);
      };
      const auto by_token = parts_of(random({2, 37, all, width}, type).transpose(1, 2));
      const auto by_head = parts_of(random({2, all, 37, width}, type));
      for (const auto& x : {by_token, by_head}) {
        for (const bool inverse : {false, true}) {
          poison();
          const auto on_gpu = each(x, gpu);
          const auto right = turned(each(x, wide), wide(cos), wide(sin), inverse);
          expect("y", turned(on_gpu, gpu(cos), gpu(sin), inverse), right);
          const auto y =
              parts_of(gpu(random({2, 37, all + 2, width}, type)).transpose(1, 2).narrow(1, 1, all));
          kernels::rotary(y, on_gpu, gpu(cos), gpu(sin), inverse);
          expect("y within a larger tensor", y, right);
        }
      }
      const auto first = [](const at::Tensor& table) { return table[0].unsqueeze(0); };
      expect("one table", turned(each(by_head, gpu), gpu(first(cos)), gpu(first(sin)), false),
             turned(each(by_head, wide), wide(first(cos)), wide(first(sin)), false));
    }
  }
}

TEST_F(GpuKernels, SoftmaxLossHasTheResultsOfTheCpu) {
  for (const auto type : kTypes) {
    for (const auto& [rows, vocab] :
         {std::pair<int64_t, int64_t>{1, 3}, {3, 7}, {5, 1000}, {9, 49153}, {4, 151936}}) {
      const auto logits = (at::randn({rows, vocab}) * 5).to(type);
      const auto targets = at::randint(vocab, {rows}, at::kLong);
      const auto right_gradient = wide(logits).clone();
      const auto right = kernels::softmax_loss(right_gradient, targets, true);
      const auto on_gpu = gpu(logits).clone();
      expect_near("loss alone", kernels::softmax_loss(on_gpu, gpu(targets), false) + 1, right + 1,
                  at::kFloat);
      EXPECT_TRUE(at::equal(on_gpu.cpu(), logits));
      expect_near("loss", kernels::softmax_loss(on_gpu, gpu(targets), true) + 1, right + 1, at::kFloat);
      // Probability minus 1 for the target: digits are lost where the probability is near 1, as in one row of
      // three.
      const auto one_hot = at::zeros_like(right_gradient).scatter_(1, targets.unsqueeze(1), 1.0);
      expect_near("gradient", on_gpu.cpu().to(at::kDouble) + one_hot, right_gradient + one_hot, type,
                  type == at::kBFloat16 ? 2 : 1);
    }
  }
}

// Bits too, since the order is the same: also of rows that all or hundreds of the indices name.
TEST_F(GpuKernels, AddRowsHasTheBitsOfTheCpu) {
  for (const auto type : kTypes) {
    for (const auto& [count, rows, width] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 3},
                                             {700, 1, 64},
                                             {4099, 7, 1536},
                                             {4096, 49153, 1000},
                                             {33, 5, 4097}}) {
      const auto right = random({rows, width}, type), x = random({count, width}, type);
      const auto indices = at::randint(rows, {count}, at::kLong), got = gpu(right);
      kernels::add_rows(right, indices, x);
      kernels::add_rows(got, gpu(indices), gpu(x));
      EXPECT_TRUE(at::equal(got.cpu(), right)) << count << " to " << rows << " of " << width << " " << type;
    }
  }
}

TEST_F(GpuKernels, ScaledHasTheBitsOfTheCpu) {
  for (const auto [to, from] : {std::pair{at::kBFloat16, at::kFloat},
                                {at::kBFloat16, at::kBFloat16},
                                {at::kFloat, at::kFloat},
                                {at::kDouble, at::kDouble}}) {
    for (const int64_t n : {1, 7, 4096, 100'003}) {
      const auto x = random({n}, from);
      const auto factor = at::full({}, 1.0 / 3, from == at::kDouble ? at::kDouble : at::kFloat);
      const auto right = at::empty({n}, to), got = at::empty({n}, at::TensorOptions(to).device(at::kCUDA));
      kernels::scaled(right, x, factor);
      kernels::scaled(got, gpu(x), gpu(factor));
      EXPECT_TRUE(at::equal(got.cpu(), right)) << n << " " << from << " to " << to;
    }
  }
}

// Thrice, since the first calls of a shape settle how it is computed.
TEST_F(GpuKernels, ProductsHaveTheResultsOfTheCpu) {
  struct Sizes {
    int64_t m, n, k;
  };
  for (const auto type : kTypes) {
    for (const auto [m, n, k] : {Sizes{1, 1, 1}, {5, 3, 7}, {64, 48, 33}, {257, 65, 333}, {128, 256, 512}}) {
      for (const bool a_turned : {false, true}) {
        for (const bool b_turned : {false, true}) {
          const auto a = random(a_turned ? std::vector{k, m} : std::vector{m, k}, type);
          const auto b = random(b_turned ? std::vector{n, k} : std::vector{k, n}, type);
          const auto bias = random({n}, type), start = random({m, n}, type);
          const auto gpu_a = gpu(a), gpu_b = gpu(b), right = at::empty({m, n}, at::kDouble);
          kernels::product(right, {wide(a), a_turned}, {wide(b), b_turned});
          // A column of another tensor starts at any address.
          const auto gpu_bias = gpu(at::cat({bias.narrow(0, 0, 1), bias})).narrow(0, 1, n);
          for (int call = 0; call < 3; ++call) {
            const auto out = at::full({m, n}, NAN, gpu_a.options()), sum = gpu(start).clone();
            kernels::product(out, {gpu_a, a_turned}, {gpu_b, b_turned});
            expect_near("out", out, right, type);
            const auto sums = at::full({m + 1}, NAN, gpu_a.options()).narrow(0, 1, m);
            kernels::product(out, {gpu_a, a_turned}, {gpu_b, b_turned}, {.row_sums = sums});
            expect_near("out beside sums", out, right, type);
            expect_near("sums", sums, (a_turned ? wide(a).t() : wide(a)).sum(1), type, 4);
            kernels::product(out, {gpu_a, a_turned}, {gpu_b, b_turned}, {.bias = gpu_bias});
            expect_near("with bias", out, right + wide(bias), type);
            kernels::product(sum, {gpu_a, a_turned}, {gpu_b, b_turned}, {.accumulate = true});
            expect_near("sum", sum, right + wide(start), type);
          }
        }
      }
    }
  }
}

TEST_F(GpuKernels, ProductsAddUpInTheWideType) {
  const auto a = random({333, 257}, at::kBFloat16), b = random({333, 65}, at::kBFloat16);
  const auto start = at::randn({257, 65});
  const auto right = wide(start).clone();
  kernels::product(right, {wide(a), true}, {wide(b)}, {.accumulate = true});
  for (int call = 0; call < 3; ++call) {
    const auto sum = gpu(start).clone();
    kernels::product(sum, {gpu(a), true}, {gpu(b)}, {.accumulate = true});
    expect_near("sum", sum, right, at::kFloat);  // nothing is rounded to bf16
  }
}

}  // namespace
}  // namespace lockstep
