// What `lockstep image update --accept` measures on a cluster, the same on either image: `cluster doctor`, an
// all-reduce over all GPUs, and 20 training steps behind the transport gate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/cluster/eks/kubernetes.h"
#include "lockstep/cluster/eks/surroundings.h"
#include "lockstep/cluster/image/image_lock.h"
#include "lockstep/cluster/job_package.h"

namespace lockstep::cluster::accept {

constexpr int64_t kSteps = 20, kSkippedSteps = 5;  // these, and of them the first that no time is taken of

struct MeasureOptions {
  std::string recipe_path;             // for messages, and for those who repeat it by hand
  std::string recipe;                  // its text
  std::vector<std::string> overrides;  // of its keys
  std::string run_dir;                 // the recipe's, absolute
  std::string id;                      // unlike every other: jobs and runs are called after it
  int64_t all_reduce_bytes = int64_t{1} << 30;
  JobPackage package;  // of this build, without a recipe
};

struct Measured {
  ImageMeasurement figures;  // of what went well
  // Why there are no figures; empty where there are.
  std::string no_all_reduce, no_training;
  bool is_network_refused = false;  // by the training's gate

  bool is_whole() const { return no_all_reduce.empty() && no_training.empty(); }
};

// `side`: "before", "after". Jobs that fail are an answer. A run's folder, beside the recipe's run.dir, is
// removed once it was read; that of a job that failed stays. Throws ConfigError and CommandError where the
// cluster is not ready for a job or cannot be asked, InterruptedError; the job that ran then is asked to
// stop.
Measured measure(eks::Kubernetes& kubernetes, const eks::Deployment& deployment, const ImageLock& lock,
                 const std::string& side, const MeasureOptions& options,
                 const eks::Surroundings& surroundings);

// The recipe's keys of the training: the user's, without checkpoints, evaluations and restarts.
std::vector<std::string> training_keys(const MeasureOptions& options, const eks::ClusterSettings& settings,
                                       const std::string& side);
// Likewise of the all-reduce, whose program the workers run in place of training.
std::vector<std::string> all_reduce_keys(const MeasureOptions& options, const eks::ClusterSettings& settings,
                                         const std::string& side);
// That program.
std::string all_reduce_program(const MeasureOptions& options);

}  // namespace lockstep::cluster::accept
