#include "lockstep/launch/worker_env.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "lockstep/base/env_var.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::launch {
namespace {

constexpr const char* kTorchrunVariables[] = {"RANK",        "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
                                              "MASTER_ADDR", "MASTER_PORT"};

bool is_worker() {
  return env_var("LOCKSTEP_ROLE") == "worker" ||
         std::all_of(std::begin(kTorchrunVariables), std::end(kTorchrunVariables),
                     [](const char* name) { return env_var(name).has_value(); });
}

std::string required(const char* name) {
  const auto value = env_var(name);
  if (value && !value->empty()) return *value;
  throw ConfigError(fmt::format(
      "worker environment: {} is not set. A worker needs RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, "
      "MASTER_ADDR and MASTER_PORT: torchrun sets them, and `lockstep train` when LOCKSTEP_ROLE is unset",
      name));
}

int number(const char* name, int lowest, int highest) {
  required(name);
  return static_cast<int>(*env_int(name, lowest, highest));
}

std::optional<int> optional_number(const char* name, int lowest, int highest) {
  const auto value = env_int(name, lowest, highest);
  return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}

std::map<std::string, std::string> versions(const char* name) {
  const auto value = env_var(name);
  if (!value) return {};
  try {
    return Json::parse(*value).get<std::map<std::string, std::string>>();
  } catch (const Json::exception&) {
    throw ConfigError(fmt::format(
        "worker environment: {} is {}: it takes a JSON object of names and versions", name, *value));
  }
}

}  // namespace

std::optional<WorkerEnv> WorkerEnv::from_environment() {
  if (!is_worker()) return std::nullopt;

  constexpr int kMax = std::numeric_limits<int>::max();
  WorkerEnv env;
  env.world_size = number("WORLD_SIZE", 1, kMax);
  env.rank = number("RANK", 0, env.world_size - 1);
  env.local_world_size = number("LOCAL_WORLD_SIZE", 1, env.world_size);
  env.local_rank = number("LOCAL_RANK", 0, env.local_world_size - 1);
  env.master_addr = required("MASTER_ADDR");
  env.master_port = static_cast<uint16_t>(number("MASTER_PORT", 1, 65535));
  env.run_dir = env_var("LOCKSTEP_RUN_DIR").value_or("");
  env.generation = optional_number("LOCKSTEP_GENERATION", 1, kMax).value_or(1);
  env.continue_from = env_var("LOCKSTEP_CONTINUE_FROM").value_or("");
  env.event_fd = optional_number("LOCKSTEP_EVENT_FD", 0, kMax);
  env.store_fd = optional_number("LOCKSTEP_STORE_FD", 0, kMax);
  env.python_packages = versions("LOCKSTEP_PYTHON_PACKAGES");
  return env;
}

std::map<std::string, std::string> WorkerEnv::to_environment() const {
  std::map<std::string, std::string> variables = {
      {"LOCKSTEP_ROLE", "worker"},
      {"RANK", std::to_string(rank)},
      {"WORLD_SIZE", std::to_string(world_size)},
      {"LOCAL_RANK", std::to_string(local_rank)},
      {"LOCAL_WORLD_SIZE", std::to_string(local_world_size)},
      {"MASTER_ADDR", master_addr},
      {"MASTER_PORT", std::to_string(master_port)},
      {"LOCKSTEP_GENERATION", std::to_string(generation)},
  };
  if (!run_dir.empty()) variables["LOCKSTEP_RUN_DIR"] = run_dir;
  if (!continue_from.empty()) variables["LOCKSTEP_CONTINUE_FROM"] = continue_from;
  if (event_fd) variables["LOCKSTEP_EVENT_FD"] = std::to_string(*event_fd);
  if (store_fd) variables["LOCKSTEP_STORE_FD"] = std::to_string(*store_fd);
  if (!python_packages.empty()) variables["LOCKSTEP_PYTHON_PACKAGES"] = Json(python_packages).dump();
  return variables;
}

}  // namespace lockstep::launch
