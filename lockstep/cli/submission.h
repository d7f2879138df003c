// A recipe on its way to a Ray cluster: everything between the command line and a job that Ray has noted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/base/recipe.h"
#include "lockstep/cluster/ray_client.h"

namespace lockstep::cli {

// The recipe that the cluster will read. Its files are the cluster's: only its text is looked at here. Throws
// ConfigError.
Recipe recipe_for_cluster(const std::string& path, const std::vector<std::string>& overrides);

// "lockstep-<run>-20260102-030405-1f2e": unlike every other, and told apart by people.
std::string new_job_id(const std::string& run);

struct Submission {
  std::string recipe;  // path, here
  std::vector<std::string> overrides;
  std::string program;     // a train function's, in place of `lockstep train`; empty: none
  std::string from;        // --from of `lockstep train`; empty: none
  std::string package;     // folder that deploy/package made; empty: this build's
  std::string id;          // empty: from the run's name and the time
  std::string image_lock;  // path of the lock of the nodes' image, for the run's record; empty: none
};

struct SubmittedJob {
  std::string id, package;  // the package's name on the cluster
};

// Checks recipe and cluster, uploads what is not there yet and submits; returns without waiting for the job.
// `note` hears of warnings, the upload and the job, a line each. Throws before anything is sent: ConfigError
// for a recipe or package that does not hold and a cluster that has not what it needs; and RayClient's
// errors.
SubmittedJob submit_job(cluster::RayClient& client, const Submission& submission,
                        const std::function<void(const std::string&)>& note);

}  // namespace lockstep::cli
