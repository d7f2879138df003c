// record.json: what ran, so that another engineer can see it and tell two runs apart.
// Fields: docs/run_directory.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/record/host.h"
#include "lockstep/record/run_directory.h"

namespace lockstep::record {

// All facts come in as values: whoever knows torch, the data or the weights says so.
struct Record {
  std::string started;                  // UTC, RFC 3339 (base/clock.h)
  std::optional<std::string> finished;  // absent while it runs
  std::vector<std::string> command;     // argv
  Json recipe;                          // with every default: Recipe::effective()

  std::string commit;                                  // of the source that was built; empty when not known
  std::map<std::string, std::string> binary_sha256;    // file name of program and own libraries -> hash
  std::map<std::string, std::string> libraries;        // name -> version
  std::map<std::string, std::string> python_packages;  // name -> version, of ray.runtime_env

  std::vector<Json> hosts;                         // HostFacts::to_json(), rank 0's machine first
  std::map<std::string, std::string> environment;  // relevant_environment()

  std::map<std::string, std::string> data_sha256;     // file or source -> hash
  std::map<std::string, std::string> weights_sha256;  // "before", "after" -> hash
  Json results;  // an object: steps, losses, exit code; null while it runs

  Json to_json() const;
};

// Replaces record.json whole. Throws IoError.
void write_record(const RunDirectory& run, const Record& record);

// Nothing before the first was written. Throws IoError when it is not JSON.
std::optional<Json> read_record(const RunDirectory& run);

}  // namespace lockstep::record
