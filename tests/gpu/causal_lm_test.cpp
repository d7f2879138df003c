// The decoder on the GPU against the decoder on the CPU: other attention kernels run there, and which one
// depends on dtype and mask.
#include "lockstep/models/causal_lm.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>

#include "lockstep/models/generation.h"
#include "lockstep/models/random_weights.h"
#include "lockstep/nn/materialize.h"
#include "tests/gpu/gpu_test.h"

namespace lockstep {
namespace {

class GpuCausalLM : public testing::GpuTest {};

models::CausalLM make_model(at::ScalarType dtype, at::DeviceType device) {
  const auto spec = models::ModelSpec::parse(R"({
    "model_type": "qwen2", "vocab_size": 101, "hidden_size": 96, "intermediate_size": 80, "num_hidden_layers": 2,
    "num_attention_heads": 6, "num_key_value_heads": 2, "initializer_range": 0.1})",
                                             "test");
  models::CausalLM model(spec, std::make_unique<models::RandomWeights>(5, spec.initializer_range));
  nn::materialize(*model, *model, at::TensorOptions().dtype(dtype).device(device));
  return model;
}

// Two rows of 37 tokens; `packed`: of two documents each, the second row padded.
models::ModelInput make_input(bool packed) {
  constexpr int64_t kRows = 2, kTokens = 37;
  models::ModelInput input{.tokens = at::randint(101, {kRows, kTokens}, at::kLong),
                           .positions = at::arange(kTokens, at::kLong).expand({kRows, kTokens}).clone(),
                           .document_ids = at::zeros({kRows, kTokens}, at::kInt),
                           .targets = at::randint(101, {kRows, kTokens}, at::kLong)};
  if (packed) {
    constexpr int64_t kBorder = 20, kPadding = 6;
    input.document_ids.narrow(1, kBorder, kTokens - kBorder).fill_(1);
    input.positions.narrow(1, kBorder, kTokens - kBorder) -= kBorder;
    input.document_ids[1].narrow(0, kTokens - kPadding, kPadding).fill_(-1);
    input.targets[1].narrow(0, kTokens - kPadding, kPadding).fill_(-100);
  }
  return input;
}

struct Tolerance {
  at::ScalarType dtype;
  double of_largest;
};

TEST_F(GpuCausalLM, HasTheLossAndGradientsOfTheCpu) {
  // bf16 against float32 on the CPU: what rounding of every activation leaves.
  for (const auto& [dtype, tolerance] :
       {Tolerance{at::kDouble, 1e-10}, {at::kFloat, 2e-5}, {at::kBFloat16, 6e-2}}) {
    for (const bool packed : {false, true}) {
      const auto input = make_input(packed);
      auto cpu = make_model(dtype == at::kBFloat16 ? at::kFloat : dtype, at::kCPU);
      auto gpu = make_model(dtype, at::kCUDA);
      const auto right = cpu->loss(input);
      const auto loss = gpu->loss(input);
      EXPECT_NEAR(loss.item<double>() / right.item<double>(), 1.0, tolerance) << dtype << " " << packed;
      right.backward();
      loss.backward();
      const auto parameters = gpu->named_parameters();
      for (const auto& expected : cpu->named_parameters()) {
        const auto got = parameters[expected.key()].grad().cpu().to(expected->scalar_type());
        const double difference = (got - expected->grad()).abs().max().item<double>();
        EXPECT_LT(difference, tolerance * expected->grad().abs().max().item<double>())
            << expected.key() << " " << dtype << " " << packed;
      }
    }
  }
}

TEST_F(GpuCausalLM, GeneratesWhatTheCpuDoes) {
  auto cpu = make_model(at::kDouble, at::kCPU);
  auto gpu = make_model(at::kDouble, at::kCUDA);
  EXPECT_EQ(models::generate(gpu, {3, 9, 4}, 20, {}), models::generate(cpu, {3, 9, 4}, 20, {}));
}

}  // namespace
}  // namespace lockstep
