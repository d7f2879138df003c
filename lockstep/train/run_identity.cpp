#include "lockstep/train/run_identity.h"

#include <fmt/core.h>

#include <filesystem>
#include <set>

#include "lockstep/base/sha256.h"

namespace lockstep::train {
namespace {

// Whole groups of the recipe's table, with what is said otherwise below taken out.
constexpr const char* kGroups[] = {"model", "data", "optimizer", "schedule", "precision"};
constexpr const char* kTrainKeys[] = {"global_batch", "seed"};

void flatten_into(Json& flat, const std::string& prefix, const Json& value) {
  if (!value.is_object()) {
    flat[prefix] = value;
    return;
  }
  for (const auto& [key, inner] : value.items()) flatten_into(flat, prefix + "." + key, inner);
}

std::string config_sha256(const std::string& model_source) {
  const std::string path = model_source + "/config.json";
  return std::filesystem::exists(path) ? sha256_file(path) : "";
}

}  // namespace

Json run_identity(const Recipe& recipe, const RunPlan& plan, const data::DataSummary& data) {
  const Json effective = recipe.effective();
  Json identity = Json::object();
  for (const char* group : kGroups) flatten_into(identity, group, effective.at(group));
  for (const char* key : kTrainKeys) identity[std::string("train.") + key] = effective.at("train").at(key);
  identity["precision.compute"] = plan.compute;
  if (recipe.schedule.name != "constant") identity["train.steps"] = data.steps;
  // Sums over micro-batches have the same bits only for the same ones.
  if (recipe.determinism == "elastic") identity["train.micro_batch"] = recipe.train.micro_batch;

  // Where a file lies does not matter, what is in it does.
  identity.erase("data.sources");
  identity.erase("model.source");
  if (!recipe.model.source.empty()) identity["model.config_sha256"] = config_sha256(recipe.model.source);
  Json files = Json::array();
  for (const auto& file : data.files) files.push_back(file.sha256);
  identity["data.files_sha256"] = files;
  return identity;
}

std::vector<std::string> differences(const Json& saved, const Json& now) {
  std::set<std::string> keys;
  for (const auto& [key, value] : saved.items()) keys.insert(key);
  for (const auto& [key, value] : now.items()) keys.insert(key);
  std::vector<std::string> lines;
  for (const std::string& key : keys) {
    const Json before = saved.value(key, Json()), after = now.value(key, Json());
    if (before != after)
      lines.push_back(fmt::format("{} was {}, is {} now", key, before.dump(), after.dump()));
  }
  return lines;
}

}  // namespace lockstep::train
