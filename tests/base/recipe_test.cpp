#include "lockstep/base/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/recipe_keys.h"
#include "tests/base/temporary_folder.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The least that a recipe must say: six lines, so that what is added stands on line 7.
constexpr const char* kLeast =
    "name: trial\n"
    "model:\n"
    "  source: some/folder\n"
    "data: {source: random}\n"
    "train:\n"
    "  steps: 10\n";
// The same with files, so that the keys about them have an effect.
constexpr const char* kWithFiles =
    "name: trial\n"
    "model: {source: some/folder}\n"
    "data.sources:\n"
    "  - path: a.jsonl\n"
    "  - path: b.jsonl\n"
    "train: {steps: 10}\n";

Recipe least(const std::vector<std::string>& overrides = {}) {
  return Recipe::parse(kLeast, "recipe.yaml", overrides);
}
Recipe with_files(const std::vector<std::string>& overrides = {}) {
  return Recipe::parse(kWithFiles, "recipe.yaml", overrides);
}

// What refuses the recipe; "" when nothing does.
template <typename Make>
std::string refusal(Make make) {
  try {
    make();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}
std::string refusal_of(const std::string& more) {
  return refusal([&] { Recipe::parse(kLeast + more, "recipe.yaml"); });
}
std::string refusal_with_files(const std::string& more) {
  return refusal([&] { Recipe::parse(kWithFiles + more, "recipe.yaml"); });
}

Json without_nulls(const Json& object) {
  Json result = Json::object();
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      if (Json inner = without_nulls(value); !inner.empty()) result[key] = std::move(inner);
    } else if (!value.is_null()) {
      result[key] = value;
    }
  }
  return result;
}

TEST(Recipe, ReadsWhatIsGivenAndKeepsTheOtherDefaults) {
  const Recipe recipe = Recipe::parse(
      "name: trial\n"
      "run: {dir: elsewhere, notes: a first look, tags: [a, 7]}\n"
      "model: {source: m, init: random}\n"
      "data:\n"
      "  shape: messages\n"
      "  train_on: all\n"
      "  sources:\n"
      "    - path: chats.jsonl\n"
      "    - {path: more.txt, format: jsonl, weight: 1}\n"
      "  sequence_length: 64\n"
      "  packing: none\n"
      "  held_out: 0.05\n"
      "train: {epochs: 1.5, global_batch: 12, micro_batch: 3, seed: 18446744073709551615}\n"
      "optimizer: {lr: 3e-4, betas: [0.8, 0.95], eps: 1e-6, weight_decay: 0, max_grad_norm: 0}\n"
      "schedule: {name: wsd, warmup_steps: 4, min_lr: 1e-5}\n"
      "precision: {compute: bf16, master: fp32, reduce: bf16}\n"
      "sharding: {strategy: grad_op, wrap: {modules: [DecoderLayer]}}\n"
      "scaling: {num_workers: 2, use_gpu: false}\n"
      "evaluation: {interval_steps: 5, prompts: ['Define \"violin\".'], max_new_tokens: 9}\n"
      "failure: {hang_timeout: 2m}\n"
      "determinism: run\n",
      "recipe.yaml");
  EXPECT_EQ(recipe.run.dir, "elsewhere");
  EXPECT_EQ(recipe.run.tags, (std::vector<std::string>{"a", "7"}));
  EXPECT_EQ(recipe.model.init, "random");
  ASSERT_EQ(recipe.data.sources.size(), 2U);
  EXPECT_EQ(recipe.data.sources[0].format, "jsonl") << "known from the name";
  EXPECT_EQ(recipe.data.sources[1].path, "more.txt");
  EXPECT_EQ(recipe.data.held_out, "0.05");
  EXPECT_EQ(recipe.train.steps, std::nullopt);
  EXPECT_EQ(recipe.train.epochs, 1.5);
  EXPECT_EQ(recipe.train.seed, 18446744073709551615U);
  EXPECT_EQ(recipe.optimizer.beta1, 0.8);
  EXPECT_EQ(recipe.optimizer.beta2, 0.95);
  EXPECT_EQ(recipe.schedule.min_lr, 1e-5);
  EXPECT_EQ(recipe.sharding.wrap_modules, std::vector<std::string>{"DecoderLayer"});
  EXPECT_EQ(recipe.scaling.num_workers, 2);
  EXPECT_EQ(recipe.scaling.use_gpu, false);
  EXPECT_EQ(recipe.evaluation.prompts, std::vector<std::string>{"Define \"violin\"."});
  EXPECT_EQ(recipe.failure.hang_timeout, std::chrono::seconds(120));
  EXPECT_EQ(recipe.determinism, "run");
  EXPECT_EQ(recipe.network.require, "any");
}

TEST(Recipe, RunFolderFollowsFromTheNameAndTheNameFromTheFolder) {
  EXPECT_EQ(least().run.dir, "runs/trial");
  EXPECT_EQ(least({"name=", "run.dir=out/first/"}).name, "first");
  EXPECT_THAT(refusal([] { least({"name="}); }), HasSubstr("name is missing"));
}

TEST(Recipe, OverridesReplaceAddAndTakeAway) {
  EXPECT_EQ(least({"train.steps=50"}).train.steps, 50);
  EXPECT_EQ(least({"train.steps=50", "train.steps=60"}).train.steps, 60) << "the last one counts";
  EXPECT_EQ(least({"sharding={strategy: none, wrap: {min_parameters: 7}}"}).sharding.wrap_min_parameters, 7);
  EXPECT_EQ(with_files({"train.steps=", "train.epochs=2"}).train.epochs, 2);
  EXPECT_EQ(with_files({"data.sources=[{path: c.jsonl}]"}).data.sources.size(), 1U);
}

TEST(Recipe, OverridingAnAliasedValueLeavesTheOtherAlone) {
  const std::string yaml = std::string(kLeast) + "optimizer: {lr: &value 0.5, eps: *value}\n";
  const Recipe recipe = Recipe::parse(yaml, "recipe.yaml", {"optimizer.lr=0.25"});
  EXPECT_EQ(recipe.optimizer.lr, 0.25);
  EXPECT_EQ(recipe.optimizer.eps, 0.5);
}

TEST(Recipe, OverridesAreCheckedLikeTheRecipe) {
  EXPECT_EQ(refusal([] { least({"train.steps=ten"}); }),
            "command line: train.steps must be a whole number, got \"ten\"");
  EXPECT_EQ(refusal([] { least({"train.stesp=5"}); }),
            "command line: unknown key \"train.stesp\": did you mean train.steps?");
  EXPECT_THAT(refusal([] { least({"train.steps"}); }),
              HasSubstr("must be key=value, such as train.steps=50"));
  EXPECT_THAT(refusal([] { least({"run.notes=[a"}); }),
              HasSubstr("the value of run.notes is not valid YAML"));
}

TEST(Recipe, WrongTypeNamesPlaceKeyAndValue) {
  EXPECT_EQ(refusal_of("optimizer:\n  lr: fast\n"),
            "recipe.yaml:8: optimizer.lr must be a number, got \"fast\"");
  EXPECT_EQ(refusal_of("scaling: {use_gpu: 2}\n"),
            "recipe.yaml:7: scaling.use_gpu must be true or false, got 2");
  EXPECT_EQ(refusal_of("run: {tags: [a,\n [b]]}\n"), "recipe.yaml:8: run.tags[1] must be text, got a list");
  EXPECT_EQ(refusal_of("sharding: full\n"),
            "recipe.yaml:7: sharding must be a mapping of keys (strategy, wrap, mesh, peer_copies, "
            "recompute), got \"full\"");
  EXPECT_EQ(refusal_of("failure: {hang_timeout: 1.5s}\n"),
            "recipe.yaml:7: failure.hang_timeout must be whole seconds (600, 600s or 10m), got \"1.5s\"");
}

TEST(Recipe, NumbersThatAreNoneAreRefused) {
  for (const char* text : {"1e400", ".nan", "nan", "inf", "0x10", "1_000", "1 2", "-1e-9"}) {
    EXPECT_THAT(refusal_of(std::string("optimizer: {lr: ") + text + "}\n"), HasSubstr("optimizer.lr must be"))
        << text;
  }
  for (const char* text : {"9223372036854775808", "1.0", "1e3", "-1"}) {
    EXPECT_THAT(refusal_of(std::string("train.global_batch: ") + text + "\n"),
                HasSubstr("train.global_batch"))
        << text;
  }
}

TEST(Recipe, OutOfRangeSaysTheRange) {
  EXPECT_EQ(refusal([] { least({"train.steps=0"}); }),
            "command line: train.steps must be a whole number of at least 1, got 0");
  EXPECT_EQ(refusal_of("optimizer.betas: [0.9, 1]\n"),
            "recipe.yaml:7: optimizer.betas must be two numbers from 0 to below 1, such as [0.9, 0.999], got "
            "[0.9,1.0]");
  EXPECT_EQ(refusal_of("schedule: {name: cosin}\n"),
            "recipe.yaml:7: schedule.name must be one of constant, linear, cosine, wsd, got \"cosin\": did "
            "you mean "
            "cosine?");
  EXPECT_THAT(refusal_with_files("data.held_out: 1.0\n"),
              HasSubstr("a share between 0 and 1, or a file, got 1.0"));
  EXPECT_THAT(refusal([] { least({"name=a/b"}); }), HasSubstr("name must be text of letters"));
  EXPECT_THAT(refusal_of("scaling: {num_workers: 0}\n"),
              HasSubstr("must be auto, a whole number of at least 1"));
}

TEST(Recipe, UnknownKeyNamesTheNearest) {
  EXPECT_EQ(refusal_of("optimiser: {lr: 1}\n"),
            "recipe.yaml:7: unknown key \"optimiser\": did you mean optimizer?");
  EXPECT_EQ(refusal_of("schedule: {warmup: 3}\n"),
            "recipe.yaml:7: unknown key \"schedule.warmup\": did you mean schedule.warmup_steps?");
  EXPECT_EQ(refusal_of("schedule: {restarts: 3}\n"),
            "recipe.yaml:7: unknown key \"schedule.restarts\": schedule has name, warmup_steps, min_lr");
  EXPECT_THAT(refusal_of("zzzzzzz: 3\n"), HasSubstr("\"zzzzzzz\": there are name, run, model, data, train"));
  EXPECT_THAT(refusal_of("steps: 3\n"), HasSubstr("did you mean train.steps?"));
  EXPECT_THAT(refusal_of("train.lr: 1\n"), HasSubstr("did you mean optimizer.lr?"));
  EXPECT_THAT(refusal_with_files("data.sequence_lenght: 1\n"),
              HasSubstr("did you mean data.sequence_length?"));
  EXPECT_THAT(refusal([] { with_files({"data.sources=[{pth: a}]"}); }),
              HasSubstr("command line: unknown key \"data.sources[0].pth\": did you mean path?"));
}

TEST(Recipe, KeyWithoutEffectIsRefused) {
  EXPECT_EQ(
      refusal_with_files("data.train_on: assistant\n"),
      "recipe.yaml:7: data.train_on has no effect with data.shape: text, where every token is trained on: "
      "remove it");
  EXPECT_THAT(refusal_of("schedule: {min_lr: 0}\n"), HasSubstr("no effect with schedule.name: constant"));
  EXPECT_THAT(refusal_of("sharding.wrap: {min_parameters: 7, modules: [Layer]}\n"),
              HasSubstr("sharding.wrap.min_parameters has no effect with sharding.wrap.modules"));
  EXPECT_THAT(refusal_with_files("evaluation: {interval_steps: 5}\n"),
              HasSubstr("no effect without data.held_out"));
  EXPECT_THAT(refusal_of("evaluation: {max_new_tokens: 5}\n"),
              HasSubstr("no effect without evaluation.prompts"));
  EXPECT_THAT(refusal_of("data.sources: [{path: a.jsonl}]\n"),
              HasSubstr("no effect with data.source: random"));
  for (const char* more : {"data.shape: text\n", "data.packing: none\n", "data.held_out: 0.5\n"}) {
    EXPECT_THAT(refusal_of(more), HasSubstr("no effect with data.source: random")) << more;
  }
  EXPECT_THAT(refusal_of("precision: {compute: fp64, reduce: fp32}\n"),
              HasSubstr("no effect with precision.compute"));
  EXPECT_THAT(refusal([] {
                least({"model.source=", "model.init=random"});
              }),
              HasSubstr("without model.source"));
}

TEST(Recipe, CheckpointsAndGuardsAreRead) {
  const Recipe recipe = Recipe::parse(
      "name: a\nmodel.source: m\ndata.source: random\ntrain.steps: 9\nscaling.num_workers: [2, 4]\n"
      "checkpoint: {interval_steps: 5, keep_last: 3, keep_every: 100, storage: 's3://bucket/runs'}\n"
      "failure.max_failures: 3\nguard: {max_skipped: 2, loss_spike: 4}\ntrain.stop_after: 4\n",
      "recipe.yaml");
  EXPECT_EQ(recipe.checkpoint.keep_last, 3);
  EXPECT_EQ(recipe.checkpoint.storage, "s3://bucket/runs");
  EXPECT_EQ(recipe.guard.loss_spike, 4);
  EXPECT_EQ(recipe.scaling.elastic, std::pair(int64_t{2}, int64_t{4}));
  EXPECT_THAT(refusal_of("checkpoint.keep_best: 1\n"),
              HasSubstr("no effect without evaluation.interval_steps"));
  EXPECT_THAT(refusal_of("guard.loss_spike: 2\n"), HasSubstr("no effect with guard.max_skipped: 0"));
  EXPECT_THAT(refusal_of("guard: {max_skipped: 1, loss_spike: 0.5}\n"), HasSubstr("0 or above 1"));
  EXPECT_THAT(refusal_of("checkpoint.keep_last: 0\n"), HasSubstr("of at least 1"));
}

TEST(Recipe, WhatIsNotBuiltYetIsRefused) {
  EXPECT_EQ(refusal_of("sharding: {recompute: auto}\n"),
            "recipe.yaml:7: sharding.recompute \"auto\" is not supported yet; use none, selective or block");
  EXPECT_EQ(refusal_of("model:\n  revision: abc\n"),
            "recipe.yaml:8: model.revision \"abc\" is not supported yet; remove it");
  for (const char* more :
       {"sharding.strategy: hybrid\n", "sharding.mesh: [2, 2]\n", "evaluation.tasks: [arc]\n",
        "evaluation.accept: ['held_out.loss < before']\n", "model.revision: abc\n"}) {
    EXPECT_THAT(refusal_of(more), HasSubstr("not supported yet")) << more;
  }
  EXPECT_THAT(refusal_with_files("data.shape: prompt_completion\n"), HasSubstr("not supported yet"));
  for (const char* source :
       {"{path: a.parquet}", "{path: a.txt, format: parquet}", "{path: a.jsonl, weight: 2}"}) {
    EXPECT_THAT(refusal([&] { with_files({std::string("data.sources=[") + source + "]"}); }),
                HasSubstr("not supported yet"))
        << source;
  }
}

TEST(Recipe, SettingsOfRayAreKeptAsTheyAre) {
  const Recipe recipe =
      Recipe::parse(std::string(kLeast) +
                        "ray:\n  runtime_env: {pip: [a==1.10], env_vars: {N: \"4\", M: 1.10}, py: '3'}\n"
                        "  resources_per_worker: {CPU: 2, GPU: 0.5}\n",
                    "recipe.yaml");
  EXPECT_EQ(recipe.ray.runtime_env,
            Json::parse(R"({"pip": ["a==1.10"], "env_vars": {"N": "4", "M": 1.10}, "py": "3"})"));
  EXPECT_EQ(recipe.effective().at("ray").at("resources_per_worker"),
            Json::parse(R"({"CPU": 2, "GPU": 0.5})"));
  EXPECT_EQ(refusal_of("ray.runtime_env: pip\n"),
            "recipe.yaml:7: ray.runtime_env must be a mapping, got \"pip\"");
  EXPECT_THAT(refusal_of("ray.resources_per_worker: {CPU: many}\n"), HasSubstr("of numbers of at least 0"));
}

TEST(Recipe, DefaultOfWhatIsNotBuiltYetMayBeWritten) {
  EXPECT_EQ(
      refusal_of("failure.max_failures: 0\nguard: {max_skipped: 0, loss_spike: 0}\nnetwork.require: any\n"
                 "sharding: {recompute: none, mesh: []}\nprecision.master: fp32\ndeterminism: none\n"),
      "");
}

TEST(Recipe, SourceWhoseFormatCannotBeToldIsRefused) {
  EXPECT_EQ(
      refusal([] { with_files({"data.sources=[{path: notes.txt}]"}); }),
      "command line: data.sources[0].path must be a file that ends in .jsonl (or say format: jsonl), got "
      "\"notes.txt\"");
  EXPECT_THAT(refusal([] { with_files({"data.sources=[{format: jsonl}]"}); }),
              HasSubstr("data.sources[0] has no path"));
  EXPECT_THAT(refusal([] { with_files({"data.sources=[]"}); }), HasSubstr("data.sources is empty"));
  EXPECT_THAT(refusal([] { with_files({"data.sources=a.jsonl"}); }), HasSubstr("must be a list"));
}

TEST(Recipe, KeysMustFitTogether) {
  EXPECT_EQ(refusal_with_files("train.epochs: 2\n"),
            "recipe.yaml:7: train.epochs and train.steps (recipe.yaml:6) exclude each other: remove one "
            "(train.epochs= "
            "on the command line does)");
  EXPECT_THAT(refusal([] { least({"train.steps="}); }), HasSubstr("give train.steps or train.epochs"));
  EXPECT_THAT(refusal([] { least({"data.source="}); }), HasSubstr("data is missing"));
  EXPECT_THAT(
      refusal([] {
        least({"train.global_batch=10", "train.micro_batch=4"});
      }),
      HasSubstr("command line: train.global_batch must be a multiple of train.micro_batch (4), got 10"));
  EXPECT_THAT(
      refusal([] {
        least({"train.global_batch=12", "train.micro_batch=4", "scaling.num_workers=2"});
      }),
      HasSubstr("train.global_batch must be a multiple of train.micro_batch x scaling.num_workers (4 x 2)"));
  EXPECT_EQ(refusal([] {
              least({"train.global_batch=12", "scaling.num_workers=3", "determinism=elastic"});
            }),
            "command line: determinism: elastic sums the 12 micro-batches of a step (train.global_batch / "
            "train.micro_batch) in one tree, which a power of two of workers can share, no more than "
            "micro-batches; got 3 workers. Set scaling.num_workers=2, or determinism=run");
  EXPECT_THAT(refusal([] {
                least({"train.global_batch=12", "scaling.num_workers=16", "determinism=elastic"});
              }),
              HasSubstr("got 16 workers. Set scaling.num_workers=4, or determinism=run"));
  EXPECT_THAT(refusal([] {
                least({"schedule.name=linear", "schedule.min_lr=1"});
              }),
              HasSubstr("schedule.min_lr must be at most optimizer.lr"));
}

TEST(Recipe, KeyGivenTwiceIsRefused) {
  EXPECT_EQ(refusal_of("train.steps: 11\n"), "recipe.yaml:7: train.steps is given twice, first on line 6");
  EXPECT_EQ(refusal_of("name: again\n"), "recipe.yaml:7: name is given twice, first on line 1");
}

TEST(Recipe, KeyWithoutValueIsRefused) {
  EXPECT_EQ(refusal_of("optimizer:\n  lr:\n"),
            "recipe.yaml:8: optimizer.lr has no value: give one, or remove the line");
  EXPECT_THAT(refusal_of("optimizer:\n"), HasSubstr("optimizer must be a mapping of keys"));
  EXPECT_THAT(refusal_of("run.notes: ''\n"), HasSubstr("run.notes must be text, not empty"));
}

TEST(Recipe, TextThatIsNoRecipeIsRefusedWithItsLine) {
  const auto parse = [](const std::string& text) { return refusal([&] { Recipe::parse(text, "r"); }); };
  EXPECT_THAT(parse(""), StartsWith("r: empty"));
  EXPECT_THAT(parse("- a\n"), StartsWith("r: not a recipe"));
  EXPECT_THAT(parse("name: x\ntrain: {steps: 1\n"), StartsWith("r:3: not valid YAML"));
  EXPECT_THAT(parse("name: a\n---\nname: b\n"), HasSubstr("goes on after the end"));
  EXPECT_THAT(parse("name: a\n]\n"), HasSubstr("r:2: not valid YAML"));
  EXPECT_THAT(parse("name: x\n# \xff\n"), StartsWith("r:2: not text in UTF-8 (byte 0xff)"));
  EXPECT_THAT(parse("? [a]\n: b\n"), HasSubstr("a key must be a plain word"));
}

TEST(Recipe, MessagesStayShortAndOnOneLine) {
  const std::string message = refusal_of("optimizer.lr: \"a\\nb" + std::string(5000, 'x') + "\"\n");
  EXPECT_LT(message.size(), 200U);
  EXPECT_EQ(message.find('\n'), message.npos);
}

TEST(Recipe, LoadingChecksTheFilesThatItNames) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "model");
  std::ofstream(folder / "a.jsonl") << "{}\n";
  std::ofstream(folder / "recipe.yaml") << "name: x\nmodel: {source: org/name}\n"
                                        << "data: {sources: [{path: " << folder / "a.jsonl"
                                        << "}]}\ntrain: {steps: 1}\n";
  const auto load = [&](std::vector<std::string> overrides) {
    return refusal([&] { Recipe::load(folder / "recipe.yaml", overrides); });
  };
  EXPECT_THAT(load({}), HasSubstr("recipe.yaml:2: model.source: no folder \"org/name\" here"));
  const std::string model = "model.source=" + folder / "model";
  EXPECT_EQ(load({model}), "");
  EXPECT_THAT(load({model, "data.sources=[{path: gone.jsonl}]"}), HasSubstr("no file \"gone.jsonl\" here"));
  EXPECT_THAT(load({model, "data.held_out=gone.jsonl"}), HasSubstr("no file \"gone.jsonl\" here"));
  EXPECT_EQ(load({model, "data.held_out=0.5"}), "");
}

TEST(Recipe, RecipeThatCannotBeReadIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal([&] { Recipe::load(folder / "none.yaml"); }), HasSubstr("none.yaml: no such recipe"));
  EXPECT_THAT(refusal([&] { Recipe::load(folder.path()); }), HasSubstr("a folder, not a recipe"));
  std::ofstream(folder / "large.yaml") << std::string(2 << 20, '#');
  EXPECT_THAT(refusal([&] { Recipe::load(folder / "large.yaml"); }), HasSubstr("over 1 MiB"));
}

TEST(Recipe, EffectiveHoldsEveryKeyInTheTablesOrder) {
  const Json effective = least().effective();
  const Json flat = effective.flatten();
  std::vector<std::string> listed;
  for (const auto& [name, value] : flat.items()) {
    std::string path = name.substr(1);
    std::replace(path.begin(), path.end(), '/', '.');
    path = path.substr(0, path.find(".0"));  // the first entry of a list
    if (!path.ends_with(".1")) listed.push_back(path);
  }
  EXPECT_EQ(listed, paths_of(recipe_keys()));
  EXPECT_EQ(effective["train"]["steps"], 10);
  EXPECT_EQ(effective["scaling"]["num_workers"], "auto");
  EXPECT_EQ(effective["run"]["dir"], "runs/trial");
  EXPECT_TRUE(effective["data"]["train_on"].is_null()) << "has no effect on random tokens";
}

TEST(Recipe, EffectiveWithoutItsNullsIsARecipe) {
  for (const Recipe& recipe : {least(), with_files({"data.held_out=0.25", "schedule.name=cosine",
                                                    "evaluation.prompts=[\"a: \\\"b\\\" #\"]"})}) {
    const Json effective = recipe.effective();
    EXPECT_EQ(Recipe::parse(without_nulls(effective).dump(2), "record.json").effective(), effective);
  }
}

}  // namespace
}  // namespace lockstep
