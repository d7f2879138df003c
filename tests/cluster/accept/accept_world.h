// A cluster on which an image is measured, in memory: eks/fake_world.h after `up`, and in its Ray pods what
// `kubectl exec` runs there. What a job measures is the image's that its head runs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "lockstep/cluster/accept/accept_update.h"
#include "tests/base/temporary_folder.h"
#include "tests/cluster/eks/fake_world.h"

namespace lockstep::cluster::accept {

inline const std::string kOld = "registry.example/ray@sha256:" + std::string(64, 'a');
inline const std::string kNew = "registry.example/ray@sha256:" + std::string(64, 'b');

// What an image is like.
struct ImageTraits {
  double bus_bandwidth = 11.25;
  double step_ms = 800;
  double loss_factor = 1;
  int all_reduce_exit_code = 0, training_exit_code = 0;
  std::string transport = "efa";
  int64_t efa_per_node = 1;  // that its nodes give while it runs
};

class AcceptWorld {
 public:
  AcceptWorld();

  Update update() const;
  Decision accept() { return accept_update(update(), cloud.surroundings()); }

  std::string lock_text() const { return read_file(lock_path()); }
  std::string lock_path() const { return folder_ / "ray.lock.yaml"; }
  // Whether RayCluster and all pods have it, and nothing else.
  bool runs(const std::string& image) const;
  // Of Ray in the pods that there are.
  std::vector<std::string> running_jobs() const;
  // All that was said, in lines.
  std::string said() const;

  eks::FakeWorld cloud;
  std::map<std::string, ImageTraits> images = {{kOld, {}}, {kNew, {}}};
  std::string other_job;               // that somebody else's Ray job is called; empty: there is none
  std::vector<std::string> submitted;  // command lines in the pod
  std::set<std::string> runs_there;    // folders of runs that were not removed

 private:
  struct Job {
    std::string head, run, status;
    bool is_all_reduce = false;
    int exit_code = 0;
  };
  std::optional<CommandResult> in_pod(const Command& command, const std::string& pod);
  CommandResult run_lockstep(const std::vector<std::string>& words, const Command& command,
                             const std::string& pod);
  CommandResult submit(const std::vector<std::string>& words, const std::string& pod);
  CommandResult log_of(Job& job, const Command& command);
  CommandResult cat(const std::string& path) const;
  const ImageTraits& traits_of(const std::string& pod) const;

  TemporaryFolder folder_;
  std::map<std::string, Job> jobs_;
  std::set<std::string> folders_;  // "POD NAME"
};

}  // namespace lockstep::cluster::accept
