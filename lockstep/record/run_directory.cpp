#include "lockstep/record/run_directory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/storage/local_file.h"

namespace lockstep::record {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path) {
  throw ConfigError(
      fmt::format("run.dir: {0} already holds files, but no run that could be continued; choose another "
                  "folder with run.dir=<folder>, or remove this one (rm -r {0})",
                  path));
}

void refuse_what_is_there(const std::string& path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return;  // or out of reach: making it will say why
  if (!fs::is_directory(path, error)) {
    throw ConfigError(fmt::format(
        "run.dir: {} exists and is not a folder; choose another place with run.dir=<folder>", path));
  }
  const bool empty = fs::is_empty(path, error);
  if (error) throw_io_error("list", path, error.value());
  if (!empty) refuse(path);
}

// "runs/x" for "runs/x/", so that the paths below it read well.
std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::string metrics_key(int generation) { return fmt::format("metrics/g{:03}.jsonl", generation); }
std::string events_key(int generation) { return fmt::format("events/g{:03}.jsonl", generation); }
std::string verdict_key(int generation) { return fmt::format("transport/g{:03}-verdict.json", generation); }
std::string driver_events_key(int start) { return fmt::format("events/driver-{:03}.jsonl", start); }

RunDirectory::RunDirectory(const std::string& path)
    : path_(without_last_slashes(path)), store_(storage::open_store(path_)) {}

RunDirectory RunDirectory::create(const std::string& path, std::string_view recipe_yaml) {
  RunDirectory run(path);
  refuse_what_is_there(run.path_);
  std::error_code error;
  const bool was_there = fs::exists(run.path_, error);
  storage::make_folders(run.path_);

  // Whoever makes logs/ has the folder: of two runs that start at once, one is refused.
  const std::string logs = run.path_ + "/logs";
  const bool is_ours = fs::create_directory(logs, error);
  if (!is_ours && !error) refuse(run.path_);
  try {
    if (error) throw_io_error("make folder", logs, error.value());
    run.store_->put(std::string(kRecipeKey), storage::as_bytes(recipe_yaml));
  } catch (...) {
    if (is_ours) fs::remove(logs, error);
    if (!was_there) fs::remove(run.path_, error);  // unless it is not empty
    throw;
  }
  return run;
}

RunDirectory RunDirectory::open(const std::string& path) {
  RunDirectory run(path);
  if (!run.store_->get(std::string(kRecipeKey), {.length = 0})) {
    throw ConfigError(
        fmt::format("run: {} is not a run's folder: it has no {}; give the folder that "
                    "'lockstep train' wrote, such as runs/<name>",
                    path, kRecipeKey));
  }
  return run;
}

int RunDirectory::newest_generation() const {
  int newest = 0;
  for (const char* prefix : {"events/g", "logs/g", "metrics/g"}) {
    for (const storage::Key& key : store_->list(prefix)) {
      newest = std::max(newest, std::atoi(key.c_str() + std::strlen(prefix)));
    }
  }
  return newest;
}

int RunDirectory::num_driver_starts() const {
  return static_cast<int>(store_->list("events/driver-").size());
}

std::string RunDirectory::log_path(int generation, int rank) const {
  return fmt::format("{}/logs/g{:03}-rank-{:03}.log", path_, generation, rank);
}

std::string RunDirectory::nccl_log_path(int generation, int rank) const {
  return fmt::format("{}/transport/g{:03}-rank-{:03}.log", path_, generation, rank);
}

std::string RunDirectory::model_path() const { return path_ + "/model"; }

}  // namespace lockstep::record
