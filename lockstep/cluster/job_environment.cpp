#include "lockstep/cluster/job_environment.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::cluster {
namespace {

Json our_variables() {
  return {{"RAY_DEDUP_LOGS", "0"},
          {"RAY_TRAIN_V2_ENABLED", "1"},
          {"RAY_TRAIN_ENABLE_PRINT_PATCH", "0"},
          {"RAY_TRAIN_HEALTH_CHECK_INTERVAL_S", "0.5"},
          {"RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", "30"},
          {"RAY_JOB_STOP_WAIT_TIME_S", "120"},
          {"PYTHONUNBUFFERED", "1"}};
}

// Ray takes texts only; a recipe's numbers are meant as such.
std::string as_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace

Json job_runtime_env(const std::string& package, const Json& asked, const Json& image_lock) {
  Json environment = asked.is_null() ? Json::object() : asked;
  if (environment.contains("working_dir")) {
    throw ConfigError(
        "ray.runtime_env: working_dir is the job's own package and cannot be another: put files on shared "
        "storage");
  }
  Json variables = our_variables();
  if (!image_lock.is_null()) variables["LOCKSTEP_IMAGE_LOCK"] = image_lock.dump();
  const Json theirs = environment.value("env_vars", Json::object());
  if (!theirs.is_object()) {
    throw ConfigError(fmt::format("ray.runtime_env: env_vars must be a mapping, got {}", theirs.dump()));
  }
  for (const auto& [name, value] : theirs.items()) variables[name] = as_text(value);
  environment["working_dir"] = "gcs://" + package;
  environment["env_vars"] = variables;
  return environment;
}

}  // namespace lockstep::cluster
