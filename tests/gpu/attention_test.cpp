// Attention in bf16 on the GPU against float64 on the CPU, whichever kernel takes it.
#include "lockstep/nn/attention.h"

#include <ATen/ATen.h>

#include "lockstep/kernels/fused_attention.h"
#include "tests/gpu/gpu_test.h"

namespace lockstep {
namespace {

class GpuAttention : public testing::GpuTest {};

struct Heads {
  at::Tensor query, key, value;

  Heads to(const at::TensorOptions& options) const {
    const auto copy = [&](const at::Tensor& x) {
      return x.to(options).detach().clone().set_requires_grad(true);
    };
    return {copy(query), copy(key), copy(value)};
  }
};

// As products leave them: [B, T, heads, Dh] seen as [B, heads, T, Dh].
Heads random_heads(int64_t tokens, int64_t channels) {
  const auto heads = [&](int64_t n) {
    return at::randn({2, tokens, n, channels}).to(at::kBFloat16).transpose(1, 2);
  };
  return {heads(6), heads(2), heads(2)};
}

at::Tensor run(const Heads& heads, const at::Tensor& out_grad,
               const nn::AttentionMask& mask = nn::AttentionMask::causal_rows()) {
  const auto out = nn::attention(heads.query, heads.key, heads.value, mask);
  out.backward(out_grad.to(out.options()));
  return out;
}

double error(const at::Tensor& got, const at::Tensor& right) {
  return ((got.cpu().to(at::kDouble) - right).norm() / right.norm()).item<double>();
}

TEST_F(GpuAttention, HasTheResultsOfTheCpu) {
  for (const auto& [tokens, channels] :
       {std::pair<int64_t, int64_t>{128, 128}, {37, 64}, {200, 128}, {64, 12}}) {
    const auto heads = random_heads(tokens, channels);
    const auto on_gpu = heads.to(at::TensorOptions().device(at::kCUDA));
    const auto on_cpu = heads.to(at::kDouble);
    const auto out_grad = at::randn(heads.query.sizes()).to(at::kBFloat16);
    const auto out = run(on_gpu, out_grad), right = run(on_cpu, out_grad);
    // bf16 probabilities and gradients of scores inside.
    EXPECT_LT(error(out, right), 1e-2) << tokens << " " << channels;
    EXPECT_LT(error(on_gpu.query.grad(), on_cpu.query.grad()), 2e-2) << tokens << " " << channels;
    EXPECT_LT(error(on_gpu.key.grad(), on_cpu.key.grad()), 2e-2) << tokens << " " << channels;
    EXPECT_LT(error(on_gpu.value.grad(), on_cpu.value.grad()), 2e-2) << tokens << " " << channels;
  }
}

// Documents of 1, 60, 67 and 70, 50 tokens and padding: the flash kernel takes their borders, and a bias
// where the channels do not suit it.
TEST_F(GpuAttention, HasTheResultsOfTheCpuWhereRowsHoldDocuments) {
  for (const int64_t channels : {64, 12}) {
    const auto heads = random_heads(128, channels);
    const auto ids = at::zeros({2, 128}, at::kInt);
    ids[0].narrow(0, 1, 60).fill_(1);
    ids[0].narrow(0, 61, 67).fill_(2);
    ids[1].narrow(0, 70, 50).fill_(1);
    ids[1].narrow(0, 120, 8).fill_(-1);
    const auto on_gpu = heads.to(at::TensorOptions().device(at::kCUDA));
    const auto on_cpu = heads.to(at::kDouble);
    const auto mask = nn::AttentionMask::documents(ids, on_gpu.query, channels);
    EXPECT_EQ(mask.bias.defined(), channels == 12);
    const auto out_grad = at::randn(heads.query.sizes()).to(at::kBFloat16);
    const auto out = run(on_gpu, out_grad, mask);
    const auto right = run(on_cpu, out_grad, nn::AttentionMask::documents(ids, on_cpu.query, channels));
    EXPECT_LT(error(out, right), 1e-2) << channels;
    EXPECT_LT(error(on_gpu.query.grad(), on_cpu.query.grad()), 2e-2) << channels;
    EXPECT_LT(error(on_gpu.key.grad(), on_cpu.key.grad()), 2e-2) << channels;
    EXPECT_LT(error(on_gpu.value.grad(), on_cpu.value.grad()), 2e-2) << channels;
  }
}

TEST_F(GpuAttention, GivesTheSameBitsAgainWhereDeterminismIsAskedFor) {
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  const auto heads = random_heads(1024, 128);
  const auto out_grad = at::randn(heads.query.sizes()).to(at::kBFloat16);
  const auto refusal = kernels::cudnn_attention_refusal(heads.query.to(at::kCUDA), heads.key.to(at::kCUDA),
                                                        heads.value.to(at::kCUDA));
  EXPECT_NE(refusal, "");
  const auto first = heads.to(at::TensorOptions().device(at::kCUDA));
  const auto out = run(first, out_grad);
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto again = heads.to(at::TensorOptions().device(at::kCUDA));
    EXPECT_TRUE(at::equal(run(again, out_grad), out));
    EXPECT_TRUE(at::equal(again.query.grad(), first.query.grad()));
    EXPECT_TRUE(at::equal(again.key.grad(), first.key.grad()));
    EXPECT_TRUE(at::equal(again.value.grad(), first.value.grad()));
  }
  at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
}

}  // namespace
}  // namespace lockstep
