#include "lockstep/train/replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/base/temporary_folder.h"
#include "lockstep/checkpoint/survey.h"
#include "lockstep/record/metrics.h"
#include "lockstep/record/record.h"
#include "lockstep/train/checkpoint_place.h"
#include "lockstep/train/driver.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

Json without_nulls(const Json& value) {
  if (!value.is_object()) return value;
  Json result = Json::object();
  for (const auto& [key, inner] : value.items()) {
    const Json kept = without_nulls(inner);
    if (!kept.is_null() && !(kept.is_object() && kept.empty())) result[key] = kept;
  }
  return result;
}

Json recorded_recipe(const record::RunDirectory& run) {
  const auto record = record::read_record(run);
  if (!record || !record->contains("recipe")) {
    throw ConfigError(fmt::format("replay: {} has no record.json: its workers never started", run.path()));
  }
  const Json command = record->value("command", Json::array());
  if (command.size() < 2 || command[1] != "train") {
    throw ConfigError(
        fmt::format("replay: {} was trained by {}, not by 'lockstep train': only that program can do it "
                    "again",
                    run.path(), command.empty() ? "another program" : command[0].dump()));
  }
  return without_nulls(record->at("recipe"));
}

std::optional<Json> metrics_of(const record::RunDirectory& run, int64_t step) {
  for (const auto& row : record::read_metrics(run)) {
    if (row.values.at("step") == step) return row.values;
  }
  return std::nullopt;
}

// The hashes of the files, which are equal for equal bits as long as the ranks are.
std::optional<Json> saved_hashes(storage::ObjectStore& store, int64_t step, int num_workers) {
  for (const auto& manifest : checkpoint::survey(store).committed) {
    if (manifest.id.step != step || manifest.world_size != num_workers) continue;
    Json hashes = Json::array();
    for (const auto& shard : manifest.shards) hashes.push_back(shard.sha256);
    return hashes;
  }
  return std::nullopt;
}

}  // namespace

bool Replay::equal() const {
  return std::all_of(values.begin(), values.end(), [](const ReplayedValue& value) { return value.equal; });
}

Replay replay(const ReplayOptions& options, const std::string& program) {
  const auto run = record::RunDirectory::open(options.run);
  Json recipe = recorded_recipe(run);
  const auto recorded = metrics_of(run, options.step);
  if (!recorded) {
    throw ConfigError(fmt::format("replay: {} has not done step {}", run.path(), options.step));
  }
  const auto store = open_checkpoint_store(run.path());
  Replay result;
  std::string from;
  for (const auto& manifest : checkpoint::survey(*store).committed) {
    if (manifest.id.step >= options.step) continue;
    result.from_step = manifest.id.step;
    result.num_workers = manifest.world_size;
    from = fmt::format("{}/{}{}", run.path(), checkpoint::kCheckpointsPrefix,
                       checkpoint::folder_name(manifest.id));
    break;
  }

  const TemporaryFolder scratch;
  recipe["run"] = {{"dir", scratch.path() + "/run"}};
  recipe["train"]["stop_after"] = options.step - result.from_step;
  recipe.erase("checkpoint");  // the stop saves all that is compared
  if (recipe.contains("failure")) recipe["failure"]["max_failures"] = 0;
  if (result.num_workers > 0) recipe["scaling"]["num_workers"] = result.num_workers;
  const std::string recipe_path = scratch.path() + "/recipe.yaml";
  std::ofstream(recipe_path) << recipe.dump(2);  // JSON is YAML

  DriverOptions driver;
  driver.recipe_path = recipe_path;
  driver.worker_argv = {program, "train", recipe_path};
  driver.from = from;
  driver.quiet = true;
  if (const int code = run_driver(driver); code != 0) {
    throw CommandError(fmt::format("replay: training steps {} to {} again ended with exit code {}",
                                   result.from_step + 1, options.step, code));
  }
  const auto again = record::RunDirectory::open(scratch.path() + "/run");
  const Json replayed = metrics_of(again, options.step).value_or(Json::object());
  for (const char* key : {"loss", "grad_norm", "tokens", "lr"}) {
    const Json before = recorded->value(key, Json()), after = replayed.value(key, Json());
    result.values.push_back({key, before, after, before == after});
  }
  if (const auto hashes = saved_hashes(*store, options.step, result.num_workers)) {
    const auto found = saved_hashes(again.store(), options.step, result.num_workers);
    result.values.push_back({"sha256", *hashes, found.value_or(Json()), found == hashes});
  }
  return result;
}

}  // namespace lockstep::train
