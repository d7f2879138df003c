// Ray's REST API, as far as submitting a job needs it.
//
// Paths and shapes are those of Ray 2.58: python/ray/dashboard/modules/job/job_head.py (jobs, packages,
// version), .../job/common.py (JobSubmitRequest), .../state/state_head.py (nodes) and
// python/ray/_private/authentication/http_token_authentication.py in ray-project/ray.
//
// Every call may throw NoAnswerError (http_client.h), ConfigError when the cluster asks for a token or
// refuses the one given, and CommandError for an answer that is an error or cannot be understood, with the
// last line of what Ray said. One thread at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/http_client.h"
#include "lockstep/cluster/ray_job.h"
#include "lockstep/cluster/ray_node.h"
#include "lockstep/cluster/ray_token.h"

namespace lockstep::cluster {

struct JobRequest {
  std::string entrypoint;  // a command line for the shell, run on the head
  std::string id;          // chosen by us, so that the job can be found even if the answer is lost
  Json runtime_env;        // working_dir, env_vars, pip, ...
  Json metadata;           // an object of texts
};

class RayClient {
 public:
  // `address` as ray_address() gives it. Sends nothing yet.
  RayClient(std::string address, std::optional<RayToken> token);

  const std::string& address() const { return address_; }
  // For messages: "lockstep jobs logs ID -f" with this cluster's address, so that it is right in any shell.
  std::string jobs_command(const std::string& words) const;

  // "2.58.0". Throws ConfigError when what answers there is not Ray.
  std::string version();
  // Dead ones are among them.
  std::vector<RayNode> nodes();

  // A package is a zip in the head's memory; `name` ends in .zip, and the job's runtime_env names it
  // "gcs://NAME". Asking keeps it from being dropped for ten minutes.
  bool has_package(const std::string& name);
  // Up to 100 MiB, in one request.
  void upload_package(const std::string& name, const std::string& bytes);

  // Returns as soon as Ray has noted the job. Throws ConfigError when there is a job of that id.
  void submit(const JobRequest& request);
  RayJob job(const std::string& id);        // throws ConfigError when there is none
  std::vector<RayJob> jobs();               // submitted ones
  std::string logs(const std::string& id);  // all that the driver wrote until now; empty before it runs
  // SIGTERM to the driver, SIGKILL after RAY_JOB_STOP_WAIT_TIME_S of its environment; returns at once.
  void stop(const std::string& id);

 private:
  HttpAnswer ask(HttpRequest request);
  HttpAnswer ask_about_job(const std::string& id, HttpRequest request);
  Json json_of(const HttpRequest& request, const HttpAnswer& answer);

  std::string address_;
  std::optional<RayToken> token_;
  HttpClient http_;
};

// Letters, digits, and "._-" inside: an id is a file's name and a part of a path on the head. Throws
// ConfigError.
void check_job_id(const std::string& id);

}  // namespace lockstep::cluster
