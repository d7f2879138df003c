#include "lockstep/models/causal_lm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/comm/run_ranks.h"
#include "lockstep/fsdp/sharded.h"
#include "tests/models/model_folders.h"
#include "tests/models/model_input.h"

namespace lockstep::models {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::vector<std::vector<int64_t>> kDocuments = {{4, 9, 2}, {5, 3, 3, 8, 21}, {7, 7}};

TEST(CausalLM, PackedDocumentsLoseAsMuchAsEachAlone) {
  CausalLM model = load_whole(test_folder("plain_f32"), at::kDouble);
  double apart = 0;
  for (const auto& document : kDocuments) apart += model->loss(single_document(document)).item<double>();
  EXPECT_NEAR(model->loss(packed_row(kDocuments, /*padding=*/3)).item<double>(), apart, 1e-10);
}

TEST(CausalLM, LossIsOfTheLogitsItGives) {
  CausalLM model = load_whole(test_folder("qwen2_random"), at::kDouble);
  const auto input = packed_row(kDocuments, 2);
  const auto logits = model(input.tokens, input.positions, input.document_ids);
  const auto expected =
      at::cross_entropy_loss(logits.flatten(0, 1), input.targets.flatten(), {}, at::Reduction::Sum);
  EXPECT_TRUE(at::allclose(model->loss(input), expected, 1e-12));
}

TEST(CausalLM, TrainsInBfloat16) {
  CausalLM wide = load_whole(test_folder("llama2_random"));
  CausalLM narrow = load_whole(test_folder("llama2_random"), at::kBFloat16);
  const auto input = packed_row(kDocuments, 1);
  const auto loss = narrow->loss(input);
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::allclose(loss, wide->loss(input), 5e-2));  // bfloat16 throughout
  loss.backward();
  for (const auto& parameter : narrow->named_parameters()) {
    EXPECT_EQ(parameter->grad().scalar_type(), at::kBFloat16) << parameter.key();
  }
}

TEST(CausalLM, DescribesItselfWithoutMemory) {
  CausalLM model = CausalLM::from_pretrained({.source = test_folder("llama2_random")});
  for (const auto& parameter : model->named_parameters())
    EXPECT_TRUE(parameter->is_meta()) << parameter.key();
}

TEST(CausalLM, ATiedHeadIsTheEmbeddingByAnotherName) {
  CausalLM model = CausalLM::from_pretrained({.source = test_folder("qwen2_random")});
  const auto parameters = model->named_parameters();
  EXPECT_TRUE(parameters["lm_head.weight"].is_same(parameters["model.embed_tokens.weight"]));
}

// Counts how often each module's hooks ran; fsdp gathers in them.
struct CountingHooks : nn::ForwardHooks {
  void before_forward() override { ++entered; }
  void after_forward(const std::vector<at::Tensor>&) override { ++left; }
  void abandon_forward() noexcept override {}
  int entered = 0, left = 0;
};

TEST(CausalLM, EveryWayToReadParametersEntersTheHooks) {
  CausalLM model = load_whole(test_folder("llama2_random"));
  std::vector<std::shared_ptr<CountingHooks>> all;
  for (const auto& module : model->modules()) {
    if (auto* hooked = dynamic_cast<nn::Module*>(module.get())) {
      all.push_back(std::make_shared<CountingHooks>());
      hooked->set_forward_hooks(all.back());
    }
  }
  const auto input = packed_row(kDocuments, 0);
  model(input.tokens, input.positions, input.document_ids);
  model->loss(input);
  KeyValueCache cache(model->spec().num_layers, 4);
  model->next_logits(input.tokens.narrow(1, 0, 3), cache);
  EXPECT_GT(all.size(), 20U);
  for (const auto& hooks : all) {
    EXPECT_EQ(hooks->entered, 3);
    EXPECT_EQ(hooks->left, 3);
  }
}

TEST(CausalLM, LayersAreWhatWrapPoliciesName) {
  CausalLM model = CausalLM::from_pretrained({.source = test_folder("llama2_random")});
  int layers = 0;
  for (const auto& module : model->named_modules()) layers += module.value()->name() == "DecoderLayer";
  EXPECT_EQ(layers, 2);
}

// Also where norms are units of their own, which are gathered for backward after what follows them.
TEST(CausalLM, WhatBackwardComputesAgainChangesNoBit) {
  for (const std::vector<std::string>& units : {std::vector<std::string>{"DecoderLayer"}, {"RMSNorm"}}) {
    comm::run_mesh(2, 2, [&](comm::Mesh& mesh) {
      std::vector<std::vector<at::Tensor>> gradients;
      for (const auto what : {Recompute::kNone, Recompute::kSelective, Recompute::kBlock}) {
        CausalLM model = CausalLM::from_pretrained({.source = test_folder("qwen2_random")});
        model->set_recompute(what);
        fsdp::FsdpOptions options;
        options.wrap = fsdp::wrap_by_type(units);
        auto sharded = fsdp::fully_shard(model, mesh, options);
        sharded->loss(packed_row(kDocuments, 1)).backward();
        auto& mine = gradients.emplace_back();
        for (const auto& shard : sharded.parameters()) mine.push_back(shard.grad());
      }
      for (size_t i = 0; i < gradients[0].size(); ++i)
        for (const size_t again : {size_t{1}, size_t{2}})
          EXPECT_TRUE(at::equal(gradients[again][i], gradients[0][i])) << i << " " << again;
    });
  }
}

TEST(CausalLM, RandomWeightsComeFromTheSeed) {
  const auto embedding = [](uint64_t seed) {
    CausalLM model = CausalLM::from_pretrained({.source = test_folder("plain_f32"), .init = "random"}, seed);
    nn::materialize(*model, *model, at::kFloat);
    return model->named_parameters()["model.embed_tokens.weight"];
  };
  EXPECT_TRUE(at::equal(embedding(3), embedding(3)));
  EXPECT_FALSE(at::equal(embedding(3), embedding(4)));
}

// A copy of a model folder whose config.json can be edited.
class EditedFolder : public testing::Test {
 protected:
  void copy(const std::string& name) {
    for (const auto& entry : std::filesystem::directory_iterator(test_folder(name))) {
      std::filesystem::copy(entry.path(), folder_.path() + "/" + entry.path().filename().string());
    }
  }
  void set(const std::string& key, const Json& value) {
    const std::string path = folder_.path() + "/config.json";
    Json config = load_json(path);
    config[key] = value;
    std::filesystem::remove(path);
    std::ofstream(path) << config.dump();
  }
  void expect_refused(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      EXPECT_THAT([&] { CausalLM::from_pretrained({.source = folder_.path()}); },
                  ThrowsMessage<ConfigError>(HasSubstr(word)));
    }
  }

  TemporaryFolder folder_;
};

TEST_F(EditedFolder, AnotherVocabularyIsRefused) {
  copy("plain_f32");
  set("vocab_size", 40);
  expect_refused({"model.embed_tokens.weight is [32,16], but config.json needs [40,16]", "vocab_size"});
}

TEST_F(EditedFolder, TensorsThatNobodyReadsAreRefused) {
  copy("llama_all_bias");
  set("mlp_bias", false);
  expect_refused({"mlp.gate_proj.bias", "would not be read"});
}

TEST_F(EditedFolder, TensorsThatAreNotThereAreRefused) {
  copy("plain_f32");
  set("num_hidden_layers", 2);
  expect_refused({"model.layers.1.", "in none of the files"});
}

TEST_F(EditedFolder, AStoredHeadThatDiffersFromTheEmbeddingIsNotTied) {
  copy("plain_f32");
  set("tie_word_embeddings", true);
  expect_refused({"lm_head.weight differs from model.embed_tokens.weight", "tie_word_embeddings"});
}

TEST_F(EditedFolder, ATruncatedFileIsRefused) {
  copy("plain_f32");
  std::filesystem::resize_file(folder_.path() + "/model.safetensors", 9000);
  expect_refused({"model.safetensors", "truncated"});
}

TEST(CausalLM, ASourceThatIsNoFolderIsRefused) {
  EXPECT_THAT([] { CausalLM::from_pretrained({.source = "nobody/nothing"}); },
              ThrowsMessage<ConfigError>(HasSubstr("model.source = nobody/nothing is not a folder")));
}

}  // namespace
}  // namespace lockstep::models
