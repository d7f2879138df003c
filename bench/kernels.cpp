// How fast the GPU kernels are, against what a copy reaches on the same card:
//
//   bench_kernels [tokens=16384]
//
// Sizes are those of Qwen2.5-1.5B. Bytes are the least that a kernel must move: each input read once, each
// output written once. Prints, for each kernel, the median of 30 calls by the device's own clock, its spread,
// GB/s (1e9 bytes a second) and the share of the copy's. Products and attention have TFLOP/s instead.
#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "lockstep/comm/cuda_backend.h"
#include "lockstep/comm/cuda_library.h"
#include "lockstep/comm/ordered_sum.h"
#include "lockstep/kernels/adamw.h"
#include "lockstep/kernels/add_rows.h"
#include "lockstep/kernels/product.h"
#include "lockstep/kernels/rms_norm.h"
#include "lockstep/kernels/rotary.h"
#include "lockstep/kernels/scaled.h"
#include "lockstep/kernels/softmax_loss.h"
#include "lockstep/kernels/square_sum.h"
#include "lockstep/kernels/swiglu.h"
#include "lockstep/nn/attention.h"

using namespace lockstep;

namespace {

constexpr int kWarmup = 5, kCalls = 30;
constexpr int64_t kWidth = 1536, kInner = 8960, kVocab = 151936, kHeads = 12, kKeyHeads = 2, kChannels = 128;
constexpr int64_t kRowTokens = 2048;

struct Times {
  double median_ms, least_ms, most_ms;
};

Times time(const std::function<void()>& call) {
  const at::Device device(at::kCUDA, 0);
  const c10::Stream stream = c10::impl::VirtualGuardImpl(at::kCUDA).getStream(device);
  std::vector<double> milliseconds;
  for (int i = 0; i < kWarmup + kCalls; ++i) {
    c10::Event start(at::kCUDA, c10::EventFlag::BACKEND_DEFAULT),
        end(at::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
    start.record(stream);
    call();
    end.record(stream);
    end.synchronize();
    if (i >= kWarmup) milliseconds.push_back(start.elapsedTime(end));
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  return {milliseconds[kCalls / 2], milliseconds.front(), milliseconds.back()};
}

class Table {
 public:
  // The ceiling: a copy of 1 GiB, read and written.
  Table() {
    const auto from = random({int64_t{1} << 29}), to = at::empty_like(from);
    copy_gb_per_s_ = bytes("copy", 4, from.numel(), [&] { to.copy_(from); });
  }

  static at::Tensor random(at::IntArrayRef sizes, at::ScalarType type = at::kBFloat16) {
    return at::randn(sizes, at::TensorOptions().dtype(type).device(at::kCUDA));
  }

  double bytes(const char* name, int64_t bytes_each, int64_t elements, const std::function<void()>& call) {
    const Times times = time(call);
    const double rate = static_cast<double>(bytes_each * elements) / times.median_ms / 1e6;
    fmt::print("{:<28} {:>9.4f} ms ({:.4f} to {:.4f}) {:>8.0f} GB/s {:>6.3f} of a copy\n", name,
               times.median_ms, times.least_ms, times.most_ms, rate,
               copy_gb_per_s_ > 0 ? rate / copy_gb_per_s_ : 1.0);
    return rate;
  }

  void operations(const char* name, double flops, const std::function<void()>& call) {
    const Times times = time(call);
    fmt::print("{:<28} {:>9.4f} ms ({:.4f} to {:.4f}) {:>8.1f} TFLOP/s\n", name, times.median_ms,
               times.least_ms, times.most_ms, flops / times.median_ms / 1e9);
  }

 private:
  double copy_gb_per_s_ = 0;
};

void norms(Table& table, int64_t tokens) {
  const auto x = Table::random({tokens, kWidth}), residual = Table::random({tokens, kWidth});
  const auto weight = Table::random({kWidth}), y_grad = Table::random({tokens, kWidth});
  const auto weight_grad = at::empty_like(weight);
  const auto [y, h, r] = kernels::rms_norm(x, residual, weight, 1e-6);
  table.bytes("rms_norm of a sum", 8, x.numel(), [&] { kernels::rms_norm(x, residual, weight, 1e-6); });
  table.bytes("rms_norm", 4, x.numel(), [&] { kernels::rms_norm(x, std::nullopt, weight, 1e-6); });
  table.bytes("rms_norm of a sum, gradient", 8, x.numel(), [&, &h = h, &r = r] {
    kernels::rms_norm_backward(weight_grad, y_grad, residual, h, weight, r);
  });
}

void swiglu(Table& table, int64_t tokens) {
  const auto columns = Table::random({tokens, 2 * kInner}).chunk(2, -1);
  const auto &gate = columns[0], &up = columns[1];
  const auto y_grad = Table::random({tokens, kInner});
  table.bytes("swiglu", 6, gate.numel(), [&] { kernels::swiglu(gate, up); });
  table.bytes("swiglu, gradient", 12, gate.numel(), [&] { kernels::swiglu_backward(y_grad, gate, up); });
}

void rotary(Table& table, int64_t tokens) {
  const int64_t rows = tokens / kRowTokens;
  const auto cos = Table::random({rows, 1, kRowTokens, kChannels / 2}), sin = at::randn_like(cos);
  const auto x = Table::random({rows, kRowTokens, kHeads + 2 * kKeyHeads, kChannels}).transpose(1, 2);
  const auto from = x.split_with_sizes({kHeads, kKeyHeads, kKeyHeads}, 1);
  std::vector<at::Tensor> to;
  for (const at::Tensor& part : from) to.push_back(at::empty_like(part));
  table.bytes("rotary of queries and keys", 4, x.numel(),
              [&] { kernels::rotary(to, from, cos, sin, false); });
}

void loss(Table& table) {
  constexpr int64_t kChunk = 4096;  // what nn::linear_cross_entropy takes at a time
  const auto logits = Table::random({kChunk, kVocab});
  const auto targets = at::randint(kVocab, {kChunk}, at::TensorOptions().dtype(at::kLong).device(at::kCUDA));
  table.bytes("softmax_loss", 4, logits.numel(), [&] { kernels::softmax_loss(logits, targets, true); });
  const auto hidden = Table::random({kChunk, kWidth});
  const auto factor = at::full({}, 0x1p-14, at::TensorOptions().device(at::kCUDA));
  const auto sum = at::zeros({kVocab, kWidth}, at::TensorOptions().device(at::kCUDA));
  table.operations("product, head's weight", 2.0 * kChunk * kVocab * kWidth, [&] {
    kernels::product(sum, {logits, /*transposed=*/true}, {hidden}, {.accumulate = true});
  });
  const auto gradient = at::empty(sum.sizes(), sum.options().dtype(at::kBFloat16));
  table.bytes("scaled, float32 to bf16", 6, sum.numel(), [&] { kernels::scaled(gradient, sum, factor); });
}

void embedding(Table& table, int64_t tokens) {
  const auto indices = at::randint(kVocab, {tokens}, at::TensorOptions().dtype(at::kLong).device(at::kCUDA));
  const auto gradient = Table::random({kVocab, kWidth}), x = Table::random({tokens, kWidth});
  table.bytes("add_rows, with the sort", 6, x.numel(), [&] { kernels::add_rows(gradient, indices, x); });
}

void optimizer(Table& table) {
  constexpr int64_t kShard = int64_t{1} << 28;
  const auto p = Table::random({kShard}, at::kFloat), g = Table::random({kShard}, at::kFloat);
  const auto m = at::zeros_like(p), v = at::zeros_like(p);
  const kernels::AdamWScalars scalars{1e-5, 0.9, 0.999, 1e-8, 0.01, 1};
  table.bytes("adamw", 28, kShard, [&] { kernels::adamw(p, m, v, g, scalars); });
  const auto digits =
      at::zeros({kernels::kSquareDigits}, at::TensorOptions().dtype(at::kLong).device(at::kCUDA));
  const auto narrow = g.to(at::kBFloat16);
  table.bytes("square_parts, bf16", 2, kShard, [&] { kernels::square_parts(narrow); });
  table.bytes("add_squares", 4, kShard, [&] { kernels::add_squares(digits, g, 0x1p-8); });
}

// Of two ranks' gradients of a decoder layer.
void reduction(Table& table) {
  constexpr int64_t kLayer = 46'797'824;
  const auto parts = Table::random({2, kLayer / 2}, at::kBFloat16);
  const auto sum = at::empty({kLayer / 2}, at::TensorOptions().device(at::kCUDA));
  table.bytes("ordered_sum, two ranks", 8, kLayer / 2, [&] { comm::ordered_sum(sum, parts); });
}

void attention(Table& table, int64_t tokens) {
  const int64_t rows = tokens / kRowTokens;
  const auto heads = [&](int64_t n) {
    return Table::random({rows, kRowTokens, n, kChannels}).transpose(1, 2).requires_grad_();
  };
  const auto query = heads(kHeads), key = heads(kKeyHeads), value = heads(kKeyHeads);
  const auto out_grad = at::randn_like(query);
  // Forward 4 and backward 10 operations for each pair that looks, half of all, and channel.
  const double flops = 14.0 / 2 * static_cast<double>(rows * kHeads * kRowTokens * kRowTokens * kChannels);
  for (const bool deterministic : {false, true}) {
    at::globalContext().setDeterministicAlgorithms(deterministic, /*warn_only=*/false);
    table.operations(deterministic ? "attention, deterministic" : "attention", flops, [&] {
      nn::attention(query, key, value, nn::AttentionMask::causal_rows()).backward(out_grad);
      for (const auto& x : {query, key, value}) x.mutable_grad().reset();
    });
  }
  at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
  constexpr int64_t kDocuments = 4;  // a row, of one length
  const auto ids = at::arange(kRowTokens).floor_divide(kRowTokens / kDocuments).to(at::kInt);
  const auto mask = nn::AttentionMask::documents(ids.expand({rows, kRowTokens}), query, kChannels);
  table.operations("attention, four documents a row", flops / kDocuments, [&] {
    nn::attention(query, key, value, mask).backward(out_grad);
    for (const auto& x : {query, key, value}) x.mutable_grad().reset();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const auto& library = comm::load_cuda_library();
  if (!library.loaded) {
    fmt::print(stderr, "bench_kernels: {}\n", library.reason);
    return 1;
  }
  comm::cuda_backend()->set_device(0);
  const int64_t tokens = (argc > 1 ? std::atoll(argv[1]) : 16384) / kRowTokens * kRowTokens;
  Table table;
  {
    const at::NoGradGuard no_grad;
    norms(table, tokens);
    swiglu(table, tokens);
    rotary(table, tokens);
    loss(table);
    embedding(table, tokens);
    optimizer(table);
    reduction(table);
  }
  attention(table, tokens);
}
