// The runtime_env of a submitted job: what Ray makes ready on every node before driver and workers start.
#pragma once

#include <string>

#include "lockstep/base/json.h"

namespace lockstep::cluster {

// working_dir is the package; env_vars are those below, and LOCKSTEP_IMAGE_LOCK with `image_lock`
// (ImageLock::to_json(), or null for none), which goes into the run's record. `asked` is the recipe's
// ray.runtime_env (a mapping, or null): its keys are taken as they are, and its env_vars win over ours.
// Throws ConfigError when it has a working_dir of its own, or env_vars that are no mapping.
//
//   RAY_DEDUP_LOGS=0                          lines of several ranks are alike, and each is wanted
//   RAY_TRAIN_V2_ENABLED=1                    the Ray Train that the adapter is written for
//   RAY_TRAIN_ENABLE_PRINT_PATCH=0            else each line that the adapter prints comes twice
//   RAY_TRAIN_HEALTH_CHECK_INTERVAL_S=0.5     of the workers, in s; 2 by default
//   RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S=30 then fewer workers are tried, where the run is elastic
//   RAY_JOB_STOP_WAIT_TIME_S=120              from SIGTERM to SIGKILL, for a checkpoint; 3 by default
//   PYTHONUNBUFFERED=1                        the log grows as it is written
Json job_runtime_env(const std::string& package, const Json& asked, const Json& image_lock = nullptr);

}  // namespace lockstep::cluster
