#include "lockstep/base/recipe_keys.h"

#include "lockstep/base/recipe_fields.h"

namespace lockstep {
namespace {

// Conditions under which keys have no effect. Each says why, or "" when they have one.

std::string needs_files(const Recipe& recipe) {
  return recipe.data.source == "random" ? "with data.source: random" : "";
}
std::string needs_turns(const Recipe& recipe) {
  if (recipe.data.shape == "text") return "with data.shape: text, where every token is trained on";
  return needs_files(recipe);
}
std::string needs_model(const Recipe& recipe) {
  return recipe.model.source.empty() ? "without model.source" : "";
}
std::string needs_decay(const Recipe& recipe) {
  return recipe.schedule.name == "constant" ? "with schedule.name: constant" : "";
}
std::string needs_less_than_fp64(const Recipe& recipe) {
  return recipe.precision.compute == "fp64" ? "with precision.compute: fp64, which keeps everything in fp64"
                                            : "";
}
std::string needs_wrapping_by_size(const Recipe& recipe) {
  return recipe.sharding.wrap_modules.empty() ? "" : "with sharding.wrap.modules";
}
std::string needs_held_out(const Recipe& recipe) {
  return recipe.data.held_out.empty() ? "without data.held_out" : "";
}
std::string needs_evaluations(const Recipe& recipe) {
  if (!recipe.evaluation.interval_steps)
    return "without evaluation.interval_steps, which measures what is best";
  return needs_held_out(recipe);
}
std::string needs_skipping(const Recipe& recipe) {
  const bool is_off = recipe.guard.loss_spike == 0;
  return recipe.guard.max_skipped == 0 && !is_off ? "with guard.max_skipped: 0, where no step may be skipped"
                                                  : "";
}
std::string needs_requirement(const Recipe& recipe) {
  return recipe.network.require == "any" ? "with network.require: any, which refuses nothing" : "";
}
std::string needs_prompts(const Recipe& recipe) {
  return recipe.evaluation.prompts.empty() ? "without evaluation.prompts" : "";
}

RecipeRange zero_or_above_one() {
  return {", 0 or above 1", [](const Json& value) { return value == 0.0 || value.get<double>() > 1; }, {}};
}

RecipeBuilt not_hybrid() {
  return {[](const Json& value) { return !value.get<std::string>().starts_with("hybrid"); },
          "use auto, full, grad_op or none"};
}

RecipeBuilt not_auto_recompute() {
  return {[](const Json& value) { return value != "auto"; }, "use none, selective or block"};
}

RecipeBuilt text_or_messages() {
  return {[](const Json& value) { return value != "prompt_completion"; }, "use text or messages"};
}

}  // namespace

const std::vector<RecipeKey<Recipe>>& recipe_keys() {
  static const std::vector<RecipeKey<Recipe>> keys = {
      {.path = "name", .field = field(&Recipe::name), .range = folder_name()},
      {.path = "run.dir", .field = field(&Recipe::run, &RunConfig::dir)},
      {.path = "run.notes", .field = field(&Recipe::run, &RunConfig::notes)},
      {.path = "run.tags", .field = field(&Recipe::run, &RunConfig::tags)},

      {.path = "model.source", .field = field(&Recipe::model, &ModelConfig::source)},
      {.path = "model.revision", .field = field(&Recipe::model, &ModelConfig::revision), .built = not_yet()},
      {.path = "model.init",
       .field = field(&Recipe::model, &ModelConfig::init),
       .range = one_of({"pretrained", "random"}),
       .idle = needs_model},

      {.path = "data.source",
       .field = field(&Recipe::data, &DataConfig::source),
       .range = one_of({"random"})},
      {.path = "data.sources", .field = data_sources_field(), .idle = needs_files},
      {.path = "data.shape",
       .field = field(&Recipe::data, &DataConfig::shape),
       .range = one_of({"text", "prompt_completion", "messages"}),
       .built = text_or_messages(),
       .idle = needs_files},
      {.path = "data.train_on",
       .field = field(&Recipe::data, &DataConfig::train_on),
       .range = one_of({"assistant", "all"}),
       .idle = needs_turns},
      {.path = "data.sequence_length",
       .field = field(&Recipe::data, &DataConfig::sequence_length),
       .range = at_least(2)},  // a row of one token predicts nothing
      {.path = "data.packing",
       .field = field(&Recipe::data, &DataConfig::packing),
       .range = one_of({"best_fit", "none"}),
       .idle = needs_files},
      {.path = "data.held_out",
       .field = field(&Recipe::data, &DataConfig::held_out),
       .range = share_or_file(),
       .idle = needs_files},

      {.path = "train.steps", .field = field(&Recipe::train, &TrainConfig::steps), .range = at_least(1)},
      {.path = "train.epochs",
       .field = field(&Recipe::train, &TrainConfig::epochs),
       .range = above(0),
       .idle = needs_files},
      {.path = "train.global_batch",
       .field = field(&Recipe::train, &TrainConfig::global_batch),
       .range = at_least(1)},
      {.path = "train.micro_batch",
       .field = field(&Recipe::train, &TrainConfig::micro_batch),
       .range = at_least(1)},
      {.path = "train.seed", .field = field(&Recipe::train, &TrainConfig::seed)},
      {.path = "train.stop_after",
       .field = field(&Recipe::train, &TrainConfig::stop_after),
       .range = at_least(1)},
      {.path = "train.cuda_graphs", .field = field(&Recipe::train, &TrainConfig::cuda_graphs)},

      {.path = "optimizer.name",
       .field = field(&Recipe::optimizer, &OptimizerConfig::name),
       .range = one_of({"adamw"})},
      {.path = "optimizer.lr",
       .field = field(&Recipe::optimizer, &OptimizerConfig::lr),
       .range = at_least(0)},
      {.path = "optimizer.betas", .field = betas_field()},
      {.path = "optimizer.eps", .field = field(&Recipe::optimizer, &OptimizerConfig::eps), .range = above(0)},
      {.path = "optimizer.weight_decay",
       .field = field(&Recipe::optimizer, &OptimizerConfig::weight_decay),
       .range = at_least(0)},
      {.path = "optimizer.max_grad_norm",
       .field = field(&Recipe::optimizer, &OptimizerConfig::max_grad_norm),
       .range = at_least(0)},

      {.path = "schedule.name",
       .field = field(&Recipe::schedule, &ScheduleConfig::name),
       .range = one_of({"constant", "linear", "cosine", "wsd"})},
      {.path = "schedule.warmup_steps",
       .field = field(&Recipe::schedule, &ScheduleConfig::warmup_steps),
       .range = at_least(0)},
      {.path = "schedule.min_lr",
       .field = field(&Recipe::schedule, &ScheduleConfig::min_lr),
       .range = at_least(0),
       .idle = needs_decay},

      {.path = "precision.compute",
       .field = field(&Recipe::precision, &PrecisionConfig::compute),
       .range = one_of({"bf16", "fp32", "fp64"})},
      {.path = "precision.master",
       .field = field(&Recipe::precision, &PrecisionConfig::master),
       .range = one_of({"fp32", "bf16"}),
       .idle = needs_less_than_fp64},
      {.path = "precision.reduce",
       .field = field(&Recipe::precision, &PrecisionConfig::reduce),
       .range = one_of({"bf16", "fp32"}),
       .idle = needs_less_than_fp64},

      {.path = "sharding.strategy",
       .field = field(&Recipe::sharding, &ShardingConfig::strategy),
       .range = one_of({"auto", "full", "grad_op", "hybrid", "hybrid_grad_op", "none"}),
       .built = not_hybrid()},
      {.path = "sharding.wrap.min_parameters",
       .field = field(&Recipe::sharding, &ShardingConfig::wrap_min_parameters),
       .range = at_least(1),
       .idle = needs_wrapping_by_size},
      {.path = "sharding.wrap.modules", .field = field(&Recipe::sharding, &ShardingConfig::wrap_modules)},
      {.path = "sharding.mesh",
       .field = field(&Recipe::sharding, &ShardingConfig::mesh),
       .built = only(Json::array())},
      {.path = "sharding.peer_copies", .field = field(&Recipe::sharding, &ShardingConfig::peer_copies)},
      {.path = "sharding.recompute",
       .field = field(&Recipe::sharding, &ShardingConfig::recompute),
       .range = one_of({"none", "block", "selective", "auto"}),
       .built = not_auto_recompute()},

      {.path = "scaling.num_workers", .field = num_workers_field()},
      {.path = "scaling.use_gpu", .field = field(&Recipe::scaling, &ScalingConfig::use_gpu)},

      {.path = "checkpoint.interval_steps",
       .field = field(&Recipe::checkpoint, &CheckpointConfig::interval_steps),
       .range = at_least(1)},
      {.path = "checkpoint.keep_last",
       .field = field(&Recipe::checkpoint, &CheckpointConfig::keep_last),
       .range = at_least(1)},
      {.path = "checkpoint.keep_every",
       .field = field(&Recipe::checkpoint, &CheckpointConfig::keep_every),
       .range = at_least(1)},
      {.path = "checkpoint.keep_best",
       .field = field(&Recipe::checkpoint, &CheckpointConfig::keep_best),
       .range = at_least(1),
       .idle = needs_evaluations},
      {.path = "checkpoint.storage", .field = field(&Recipe::checkpoint, &CheckpointConfig::storage)},

      {.path = "evaluation.interval_steps",
       .field = field(&Recipe::evaluation, &EvaluationConfig::interval_steps),
       .range = at_least(1),
       .idle = needs_held_out},
      {.path = "evaluation.prompts", .field = field(&Recipe::evaluation, &EvaluationConfig::prompts)},
      {.path = "evaluation.max_new_tokens",
       .field = field(&Recipe::evaluation, &EvaluationConfig::max_new_tokens),
       .range = at_least(1),
       .idle = needs_prompts},
      {.path = "evaluation.tasks",
       .field = field(&Recipe::evaluation, &EvaluationConfig::tasks),
       .built = only(Json::array())},
      {.path = "evaluation.accept",
       .field = field(&Recipe::evaluation, &EvaluationConfig::accept),
       .built = only(Json::array())},

      {.path = "failure.max_failures",
       .field = field(&Recipe::failure, &FailureConfig::max_failures),
       .range = at_least(0)},
      {.path = "failure.hang_timeout",
       .field = field(&Recipe::failure, &FailureConfig::hang_timeout),
       .range = at_least(1)},
      {.path = "guard.max_skipped",
       .field = field(&Recipe::guard, &GuardConfig::max_skipped),
       .range = at_least(0)},
      {.path = "guard.loss_spike",
       .field = field(&Recipe::guard, &GuardConfig::loss_spike),
       .range = zero_or_above_one(),
       .idle = needs_skipping},

      {.path = "network.require",
       .field = field(&Recipe::network, &NetworkConfig::require),
       .range = one_of({"any", "efa", "ib", "roce"})},
      {.path = "network.min_efficiency",
       .field = field(&Recipe::network, &NetworkConfig::min_efficiency),
       .range = at_least(0)},
      {.path = "network.hard_guard",
       .field = field(&Recipe::network, &NetworkConfig::hard_guard),
       .idle = needs_requirement},
      {.path = "determinism",
       .field = field(&Recipe::determinism),
       .range = one_of({"none", "run", "elastic"})},
      {.path = "ray.runtime_env", .field = field(&Recipe::ray, &RayConfig::runtime_env)},
      {.path = "ray.resources_per_worker",
       .field = field(&Recipe::ray, &RayConfig::resources_per_worker),
       .range = of_numbers()},
  };
  return keys;
}

const std::vector<RecipeKey<DataSourceConfig>>& data_source_keys() {
  static const std::vector<RecipeKey<DataSourceConfig>> keys = {
      {.path = "path", .field = field(&DataSourceConfig::path)},
      {.path = "weight", .field = field(&DataSourceConfig::weight), .range = above(0), .built = only(1.0)},
      {.path = "format",
       .field = field(&DataSourceConfig::format),
       .range = one_of({"jsonl", "parquet"}),
       .built = only("jsonl")},
  };
  return keys;
}

}  // namespace lockstep
