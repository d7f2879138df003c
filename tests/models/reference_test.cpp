// Logits and gradients against Hugging Face transformers, in float32. The values were written by
// scripts/references/model_reference.py.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

#include "lockstep/models/weight_shapes.h"
#include "tests/models/model_folders.h"
#include "tests/models/model_input.h"
#include "tests/models/reference_file.h"

namespace lockstep::models {
namespace {

constexpr double kTolerance = 1e-4;  // of the largest value

double relative_difference(const at::Tensor& got, const at::Tensor& right) {
  return ((got - right).abs().max() / right.abs().max()).item<double>();
}

class RandomModel : public testing::TestWithParam<std::string> {};

TEST_P(RandomModel, HasTransformersLogitsAndGradients) {
  const std::string folder = test_folder(GetParam());
  const ReferenceFile reference(folder + "/reference.safetensors");
  CausalLM model = load_whole(folder);
  const auto input = single_document(reference.integers("tokens"));
  const auto logits = model(input.tokens, input.positions, input.document_ids)[0];
  EXPECT_LT(relative_difference(logits, reference.floats("logits")), kTolerance);

  model->loss(input).backward();
  const bool tied = model->spec().tie_word_embeddings;
  for (const auto& parameter : model->named_parameters()) {
    if (tied && parameter.key() == "lm_head.weight") continue;  // the embedding by another name
    EXPECT_LT(relative_difference(parameter->grad(), reference.floats("grad." + parameter.key())), kTolerance)
        << parameter.key();
  }
}

INSTANTIATE_TEST_SUITE_P(Families, RandomModel,
                         testing::Values("llama2_random", "qwen2_random", "qwen3_random"),
                         [](const auto& info) { return info.param; });

std::string smollm2_folder() {
  const char* cache = std::getenv("LOCKSTEP_CACHE");
  const char* home = std::getenv("HOME");
  const std::string root =
      cache != nullptr ? cache : std::string(home != nullptr ? home : "") + "/.cache/lockstep";
  return root + "/models/SmolLM2-135M-Instruct";
}

TEST(SmolLM2, HasTransformersLogitsAndGradients) {
  if (!std::filesystem::exists(smollm2_folder())) {
    GTEST_SKIP() << smollm2_folder() << " is not there: make demo converts it";
  }
  constexpr int64_t kLogitStride = 16;  // as the script samples
  const ReferenceFile reference(test_folder("smollm2.safetensors"));
  CausalLM model = load_whole(smollm2_folder());
  const auto input = single_document(reference.integers("tokens"));
  {
    const at::NoGradGuard no_grad;
    const auto positions = at::tensor(reference.integers("positions"), at::kLong);
    const auto logits =
        model(input.tokens, input.positions, input.document_ids)[0].index_select(0, positions);
    EXPECT_LT(relative_difference(logits.slice(1, 0, std::nullopt, kLogitStride), reference.floats("logits")),
              kTolerance);
  }
  model->loss(input).backward();
  const auto norms = reference.floats("gradient_norms");
  const auto largest = reference.floats("gradient_largest");
  const auto samples = reference.floats("gradient_samples");  // [parameters, samples]
  int64_t index = 0;
  const auto parameters = model->named_parameters();
  for (const WeightShape& weight : weight_shapes(model->spec())) {
    const auto gradient = parameters[weight.name].grad().flatten();
    const int64_t count = samples.size(1);
    const auto picked = gradient.index_select(0, at::arange(count) * (gradient.numel() / count));
    EXPECT_LT(((picked - samples[index]).abs().max() / largest[index]).item<double>(), kTolerance)
        << weight.name;
    EXPECT_NEAR((gradient.norm() / norms[index]).item<double>(), 1.0, kTolerance) << weight.name;
    ++index;
  }
  EXPECT_EQ(index, norms.size(0));
}

}  // namespace
}  // namespace lockstep::models
