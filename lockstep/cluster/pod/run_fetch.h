// Brings a run's folder from the storage that the head pod sees to this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/cluster/eks/surroundings.h"
#include "lockstep/cluster/pod/head_pod.h"

namespace lockstep::cluster::pod {

struct FetchOptions {
  std::string run;     // the run's folder, as the pods see it
  std::string target;  // the folder here
  bool leave_out_checkpoints = false;
  bool go_on = false;  // into a target that is there: only what it lacks, or has otherwise
};

struct Fetched {
  int64_t files = 0, bytes = 0;  // that came now
  int64_t there = 0;             // files that were there already
};

// Every file is compared with its SHA-256 in the pod before it gets its name: until then it is
// NAME.unfinished. A connection that breaks is taken up with the file at which it broke. Of a run that still
// goes on, files that grow are brought as long as they were at first; one that is replaced meanwhile is asked
// for again.
//
// Throws ConfigError for a run that the pod has not and a target that is there (unless `go_on`), CommandError
// when nothing comes for five minutes: what has come stays, and `go_on` goes on; and IoError.
Fetched fetch_run(HeadPod& head, const FetchOptions& options, const eks::Surroundings& surroundings);

}  // namespace lockstep::cluster::pod
