// The loss of one text under small models whose right answer is known, each made to show one way of
// reading a folder wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "tests/models/model_folders.h"
#include "tests/models/model_input.h"

namespace lockstep::models {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Json probe() { return load_json(test_folder("probe.json")); }

// Mean over the text's predicted tokens.
double probe_loss(const std::string& name, at::ScalarType dtype) {
  CausalLM model = load_whole(test_folder(name), dtype);
  const auto ids = probe()["ids"].get<std::vector<int64_t>>();
  return model->loss(single_document(ids)).item<double>() / static_cast<double>(ids.size() - 1);
}

class ProbeLoss : public testing::TestWithParam<std::string> {};

TEST_P(ProbeLoss, IsTheRightOneInFloat32AndFloat64) {
  const double right = probe()["losses"][GetParam()].get<double>();
  EXPECT_NEAR(probe_loss(GetParam(), at::kFloat), right, 2e-5);
  EXPECT_NEAR(probe_loss(GetParam(), at::kDouble), right, 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Folders, ProbeLoss,
                         testing::Values("plain_f32", "norms_one_bf16",
                                         "head_dim_explicit",  // heads * head_dim is not the width
                                         "qwen2_qkv_bias",     // biases that no config key announces
                                         "llama_all_bias",     // biases on every projection
                                         "mixed_dtype"),       // F32, F16 and BF16 in one file
                         [](const auto& info) { return info.param; });

struct Refusal {
  std::string folder;
  std::vector<std::string> words;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.folder; }

class RefusedFolder : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedFolder, NamesWhatIsWrong) {
  const auto load = [&] { CausalLM::from_pretrained({.source = test_folder(GetParam().folder)}); };
  for (const std::string& word : GetParam().words) {
    EXPECT_THAT(load, ThrowsMessage<ConfigError>(HasSubstr(word)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Folders, RefusedFolder,
    testing::Values(Refusal{"head_dim_absent_qwen3", {"q_proj", "[32,16]", "[256,16]"}},
                    Refusal{"untied_head_missing", {"lm_head.weight", "tie_word_embeddings"}},
                    Refusal{"index_shard_missing", {"model-00002-of-00002.safetensors"}},
                    Refusal{"index_stray_file", {"model.safetensors and", "model.safetensors.index.json"}},
                    Refusal{"rope_llama3", {"rope_scaling", "llama3", "not supported"}}),
    [](const auto& info) { return info.param.folder; });

TEST(IndexedFolder, WithoutTheStrayFileReadsItsShards) {
  const TemporaryFolder copy;
  std::filesystem::copy(test_folder("index_stray_file"), copy.path());
  std::filesystem::remove(copy.path() + "/model.safetensors");
  CausalLM model = load_whole(copy.path());
  const auto ids = probe()["ids"].get<std::vector<int64_t>>();
  EXPECT_NEAR(model->loss(single_document(ids)).item<double>() / static_cast<double>(ids.size() - 1),
              probe()["losses"]["index_stray_file"].get<double>(), 2e-5);
}

}  // namespace
}  // namespace lockstep::models
