#include "lockstep/train/run_start.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/checkpoint/lineage.h"
#include "lockstep/checkpoint/survey.h"
#include "lockstep/record/record.h"
#include "lockstep/train/checkpoint_place.h"

namespace lockstep::train {
namespace {

std::string read_recipe(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream recipe;
  recipe << file.rdbuf();
  if (!file) throw_io_error("read", path, errno);
  return recipe.str();
}

bool holds_a_run(const std::string& run_dir) {
  std::error_code error;
  return std::filesystem::exists(run_dir + "/" + std::string(record::kRecipeKey), error);
}

FileDescriptor lock(const record::RunDirectory& run) {
  // The recipe is there as long as the run, and nobody writes to it again.
  const std::string path = run.path() + "/" + std::string(record::kRecipeKey);
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw_io_error("open", path, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw ConfigError(
        fmt::format("run.dir: {} is being trained by another process; wait until it has ended, or choose "
                    "another folder with run.dir=<folder>",
                    run.path()));
  }
  return file;  // a file system without locks: the claims in the checkpoints' storage are left (lineage.h)
}

void refuse_a_finished_run(const record::RunDirectory& run, storage::ObjectStore& checkpoints,
                           const Recipe& recipe) {
  const auto record = record::read_record(run);
  if (!record || !record->contains("results") || !(*record)["results"].is_object()) return;
  const Json& results = (*record)["results"];
  if (!results.contains("weights_sha256") || !results.contains("steps")) return;
  const auto steps = results["steps"].get<int64_t>();
  if (recipe.train.steps && *recipe.train.steps > steps) {
    if (!checkpoint::survey(checkpoints).committed.empty()) return;
    throw ConfigError(fmt::format(
        "run.dir: {} holds a finished run ({} steps) without a checkpoint to train it further from "
        "(checkpoint.interval_steps was not set); choose another folder with run.dir=<folder>",
        run.path(), steps));
  }
  throw ConfigError(
      fmt::format("run.dir: {0} holds a finished run ({1} steps); to train it further raise train.steps, "
                  "to train anew choose another folder with run.dir=<folder>, or remove it (rm -r {0})",
                  run.path(), steps));
}

}  // namespace

RunStart start_run(const std::string& run_dir, const std::string& recipe_path, const Recipe& recipe) {
  if (!holds_a_run(run_dir)) {
    RunStart start{record::RunDirectory::create(run_dir, read_recipe(recipe_path))};
    start.lock = lock(start.run);
    return start;
  }
  RunStart start{record::RunDirectory::open(run_dir)};
  start.is_new = false;
  start.lock = lock(start.run);
  start.generation = next_generation(start.run, recipe);
  return start;
}

int next_generation(const record::RunDirectory& run, const Recipe& recipe) {
  const auto checkpoints = storage::open_store(checkpoint_location(recipe, run.path()));
  refuse_a_finished_run(run, *checkpoints, recipe);
  return 1 + std::max(run.newest_generation(), checkpoint::newest_generation(*checkpoints));
}

}  // namespace lockstep::train
