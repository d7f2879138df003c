// A job of Ray's, submitted and followed from inside the head pod: nothing of Ray's has to be reachable from
// here. What talks to Ray there is the package's own `lockstep` (python -m lockstep_ray.run_here).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/cluster/eks/surroundings.h"
#include "lockstep/cluster/pod/head_pod.h"
#include "lockstep/cluster/zip_archive.h"

namespace lockstep::cluster::pod {

struct PodSubmission {
  std::string id;                   // the job's
  std::vector<ArchiveFile> files;   // the recipe and what else the words name, by names without folders
  std::string recipe;               // its name among the files
  std::vector<std::string> words;   // what follows the recipe on `lockstep submit`'s command line
  std::vector<std::string> naming;  // options and the files that they name: {"--program", "my_train"}
};

// How a job is, as `lockstep jobs status --json` tells.
struct PodJob {
  std::string status, message;
  std::optional<int> exit_code;  // once it is over
};

class PodJobs {
 public:
  // `package`: the unpacked package's path in the pod. The others must outlive it.
  PodJobs(HeadPod& head, std::string package, const eks::Surroundings& surroundings)
      : head_(head), package_(std::move(package)), surroundings_(surroundings) {}

  // Submits and does not wait. The answer may be lost on the way: then the job's id tells whether Ray has it,
  // and it is never submitted twice. Throws Refused with `lockstep submit`'s words.
  void submit(const PodSubmission& submission);

  // Until the job is over; `log` hears what is new in its log. A stream that breaks, or ends before the job,
  // is taken up where it was: nothing is heard twice. Throws CommandError when nothing answered for ten
  // minutes.
  PodJob follow(const std::string& id, const std::function<void(std::string_view)>& log);

  // Nothing where there is no such job. Throws CommandError.
  std::optional<PodJob> status(const std::string& id);
  // Asks it to stop: it saves a checkpoint first. Throws CommandError.
  void stop(const std::string& id);
  // For people: "kubectl exec … jobs logs ID -f".
  std::string command_line(const std::vector<std::string>& words) const;

 private:
  std::vector<std::string> argv(const std::vector<std::string>& words) const;

  HeadPod& head_;
  std::string package_;
  const eks::Surroundings& surroundings_;
};

// `lockstep submit` in the pod ended with an error of its own, which is this command's too.
struct Refused {
  int exit_code;
  std::string words;  // "ray: …", without "lockstep: error: "
};

}  // namespace lockstep::cluster::pod
