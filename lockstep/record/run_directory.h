// The folder of one run and the names in it. Layout and formats: docs/run_directory.md.
//
// A generation is one start of the worker group, from 1. Every file has one writer and is only
// appended to, or replaced whole; a later generation opens files of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lockstep/storage/object_store.h"

namespace lockstep::record {

// Keys in the run's store.
inline constexpr std::string_view kRecipeKey = "recipe.yaml";
inline constexpr std::string_view kRecordKey = "record.json";
std::string metrics_key(int generation);   // "metrics/g001.jsonl": rank 0
std::string events_key(int generation);    // "events/g001.jsonl": rank 0
std::string verdict_key(int generation);   // "transport/g001-verdict.json": rank 0
std::string driver_events_key(int start);  // "events/driver-001.jsonl": the `start`-th driver of the run

class RunDirectory {
 public:
  // Makes the folder with logs/ in it and writes `recipe_yaml`, the recipe as given. Throws
  // ConfigError when something is at `path` that is not an empty folder, saying what to do; after
  // any failure nothing that this call made is left at `path`.
  static RunDirectory create(const std::string& path, std::string_view recipe_yaml);

  // A run that exists: for workers and readers. Throws ConfigError when `path` holds no recipe.yaml.
  static RunDirectory open(const std::string& path);

  // The newest start that left anything here; 0: none.
  int newest_generation() const;
  // How many drivers have written events.
  int num_driver_starts() const;

  const std::string& path() const { return path_; }
  storage::ObjectStore& store() const { return *store_; }

  // Paths of what others write: a worker's output, and the fine-tuned model as a Hugging Face folder.
  std::string log_path(int generation, int rank) const;       // <path>/logs/g001-rank-000.log
  std::string nccl_log_path(int generation, int rank) const;  // <path>/transport/g001-rank-000.log
  std::string model_path() const;                             // <path>/model

 private:
  explicit RunDirectory(const std::string& path);

  std::string path_;
  std::unique_ptr<storage::ObjectStore> store_;
};

}  // namespace lockstep::record
