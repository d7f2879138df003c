// A job of a Ray cluster, as the Jobs API tells of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::cluster {

struct RayJob {
  std::string id;       // the submission id
  std::string status;   // PENDING, RUNNING, STOPPED, SUCCEEDED, FAILED
  std::string message;  // Ray's words on the status
  std::string entrypoint;
  Json metadata;                            // what the submitter wrote: an object of texts, or null
  std::optional<int64_t> start_ms, end_ms;  // Unix time
  std::optional<int> driver_exit_code;      // minus the signal's number when one ended it

  bool is_over() const;
  // What a command that followed the job ends with: the driver's own code (128 + signal for a signal); for
  // a job without one 12 (preempted) when it was stopped and 8 when it never came to run. Only when
  // is_over().
  int exit_code() const;
  // "SUCCEEDED", "FAILED with exit code 3".
  std::string outcome() const;
  Json to_json() const;
};

// From an answer of GET /api/jobs/{id} (JobDetails in python/ray/dashboard/modules/job/pydantic_models.py of
// ray-project/ray). Throws Json::exception when it has another shape.
RayJob ray_job_from(const Json& json);

// A line a job for people, oldest first: id, status, start, duration, run.
std::string to_table(std::vector<RayJob> jobs);

}  // namespace lockstep::cluster
