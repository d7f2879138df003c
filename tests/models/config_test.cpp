#include "lockstep/models/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/models/json_file.h"

namespace lockstep::models {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Json llama() {
  return {{"model_type", "llama"},  {"hidden_size", 24},        {"intermediate_size", 20}, {"vocab_size", 37},
          {"num_hidden_layers", 2}, {"num_attention_heads", 6}, {"num_key_value_heads", 2}};
}

ModelSpec parse(const Json& config) { return ModelSpec::parse(config.dump(), "config.json"); }

Json with(Json config, const std::string& key, const Json& value) {
  config[key] = value;
  return config;
}

TEST(ModelSpec, AbsentKeysHaveTransformersDefaults) {
  const ModelSpec spec = parse(llama());
  EXPECT_EQ(spec.head_dim, 4);
  EXPECT_EQ(spec.rope_theta, 10000.0);
  EXPECT_EQ(spec.rms_norm_eps, 1e-6);
  EXPECT_FALSE(spec.tie_word_embeddings || spec.qkv_bias || spec.output_bias || spec.mlp_bias ||
               spec.qk_norm);
}

TEST(ModelSpec, ExplicitHeadDimNeedNotBeWidthOverHeads) {
  EXPECT_EQ(parse(with(llama(), "head_dim", 16)).query_width(), 96);
}

TEST(ModelSpec, Qwen3HasHeadsOf128AndNormalizesThem) {
  const ModelSpec spec = parse(with(llama(), "model_type", "qwen3"));
  EXPECT_EQ(spec.head_dim, 128);
  EXPECT_TRUE(spec.qk_norm);
}

TEST(ModelSpec, Qwen2HasBiasesOnQueriesKeysAndValuesOnly) {
  const ModelSpec spec = parse(with(llama(), "model_type", "qwen2"));
  EXPECT_TRUE(spec.qkv_bias);
  EXPECT_FALSE(spec.output_bias);
}

TEST(ModelSpec, RotaryBaseStandsInEitherPlace) {
  const Json parameters = {{"rope_type", "default"}, {"rope_theta", 500000.0}};
  EXPECT_EQ(parse(with(llama(), "rope_theta", 500000.0)).rope_theta, 500000.0);
  EXPECT_EQ(parse(with(llama(), "rope_parameters", parameters)).rope_theta, 500000.0);
  EXPECT_THAT(
      [&] { parse(with(with(llama(), "rope_theta", 10000.0), "rope_parameters", parameters)); },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("rope_parameters"), HasSubstr("rope_theta = 10000"))));
}

TEST(ModelSpec, EosMayBeOneTokenOrSeveral) {
  EXPECT_THAT(parse(with(llama(), "eos_token_id", 2)).eos_token_ids, ElementsAre(2));
  EXPECT_THAT(parse(with(llama(), "eos_token_id", {2, 5})).eos_token_ids, ElementsAre(2, 5));
  EXPECT_THAT(parse(with(llama(), "eos_token_id", nullptr)).eos_token_ids, ElementsAre());
}

TEST(ModelSpec, UnknownKeysAreListed) {
  const ModelSpec spec = parse(with(with(llama(), "use_cache", true), "zebra_stripes", 7));
  EXPECT_THAT(spec.unknown_keys, ElementsAre("zebra_stripes"));
}

// Each changes the mathematics; reading on would train another model.
class UnsupportedKey : public testing::TestWithParam<std::pair<std::string, Json>> {};

TEST_P(UnsupportedKey, IsRefusedByName) {
  const auto& [key, value] = GetParam();
  EXPECT_THAT(
      [&] { parse(with(llama(), key, value)); },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("config.json: " + key + " = "), HasSubstr("support"))));
}

TEST_P(UnsupportedKey, IsAcceptedWhenNull) {
  EXPECT_NO_THROW(parse(with(llama(), GetParam().first, nullptr)));
}

INSTANTIATE_TEST_SUITE_P(
    Keys, UnsupportedKey,
    testing::Values(std::pair{"hidden_act", Json("gelu")},
                    std::pair{"rope_scaling", Json({{"rope_type", "llama3"}, {"factor", 8.0}})},
                    std::pair{"rope_scaling", Json({{"type", "linear"}, {"factor", 2.0}})},
                    std::pair{"rope_parameters", Json({{"rope_type", "yarn"}, {"factor", 4.0}})},
                    std::pair{"partial_rotary_factor", Json(0.5)},
                    std::pair{"use_sliding_window", Json(true)},
                    std::pair{"layer_types", Json({"full_attention", "sliding_attention"})},
                    std::pair{"quantization_config", Json({{"bits", 4}})},
                    std::pair{"num_local_experts", Json(8)}, std::pair{"use_qk_norm", Json(true)},
                    std::pair{"final_logit_softcapping", Json(30.0)},
                    std::pair{"residual_multiplier", Json(0.22)}, std::pair{"attention_dropout", Json(0.1)},
                    std::pair{"architectures", Json({"LlamaForSequenceClassification"})}));

TEST(ModelSpec, OtherModelTypesAreRefused) {
  for (const Json& type : {Json("mixtral"), Json(), Json(7)}) {
    EXPECT_THAT([&] { parse(with(llama(), "model_type", type)); },
                ThrowsMessage<ConfigError>(HasSubstr("model_type = " + type.dump() + " is not supported")));
  }
}

TEST(ModelSpec, NeutralValuesPass) {
  Json config = llama();
  config.update({{"rope_scaling", {{"rope_type", "default"}}},
                 {"partial_rotary_factor", 1.0},
                 {"attention_dropout", 0.0},
                 {"sliding_window", 4096},
                 {"use_sliding_window", false},
                 {"layer_types", {"full_attention"}},
                 {"hidden_act", "silu"},
                 {"residual_multiplier", 1},
                 {"pretraining_tp", 4}});
  EXPECT_NO_THROW(parse(config));
}

TEST(ModelSpec, ContradictionsAreRefused) {
  EXPECT_THAT([] { parse(with(with(llama(), "model_type", "qwen2"), "attention_bias", false)); },
              ThrowsMessage<ConfigError>(HasSubstr("attention_bias = false")));
  EXPECT_THAT([] { parse(with(with(llama(), "model_type", "qwen2"), "mlp_bias", true)); },
              ThrowsMessage<ConfigError>(HasSubstr("mlp_bias = true")));
  EXPECT_THAT(
      [] { parse(with(llama(), "num_key_value_heads", 4)); },
      ThrowsMessage<ConfigError>(HasSubstr("num_key_value_heads = 4 must divide num_attention_heads = 6")));
  EXPECT_THAT([] { parse(with(llama(), "hidden_size", 25)); },
              ThrowsMessage<ConfigError>(HasSubstr("must divide hidden_size = 25")));
  EXPECT_THAT([] { parse(with(llama(), "head_dim", 3)); },
              ThrowsMessage<ConfigError>(HasSubstr("must be even")));
}

TEST(ModelSpec, WrongValuesAreRefused) {
  for (const Json& bad : {Json(0), Json(-1), Json(2.5), Json("24"), Json(uint64_t{1} << 63), Json::array()}) {
    EXPECT_THAT([&] { parse(with(llama(), "hidden_size", bad)); },
                ThrowsMessage<ConfigError>(HasSubstr("hidden_size = ")))
        << bad;
  }
  Json missing = llama();
  missing.erase("vocab_size");
  EXPECT_THAT([&] { parse(missing); }, ThrowsMessage<ConfigError>(HasSubstr("vocab_size is missing")));
}

TEST(ModelSpec, ATokenizerWithMoreIdsIsRefused) {
  const ModelSpec spec = parse(llama());
  EXPECT_NO_THROW(spec.require_vocabulary(37, "m"));
  EXPECT_THAT([&] { spec.require_vocabulary(38, "m"); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("38 ids"), HasSubstr("vocab_size = 37"))));
}

TEST(ModelSpec, BrokenJsonIsRefusedWithItsLine) {
  EXPECT_THAT([] { ModelSpec::parse("{\n\"model_type\": llama}", "config.json"); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("config.json"), HasSubstr("line 2"))));
  EXPECT_THAT([] { ModelSpec::parse("[]", "config.json"); },
              ThrowsMessage<ConfigError>(HasSubstr("JSON object")));
  EXPECT_THAT([] { ModelSpec::parse(R"({"vocab_size": 1, "vocab_size": 2})", "config.json"); },
              ThrowsMessage<ConfigError>(HasSubstr("\"vocab_size\" twice")));
  const std::string deep(200'000, '[');
  EXPECT_THAT(
      [&] { ModelSpec::parse(R"({"a": )" + deep + std::string(deep.size(), ']') + "}", "config.json"); },
      ThrowsMessage<ConfigError>(HasSubstr("nested deeper")));
}

}  // namespace
}  // namespace lockstep::models
