// Do a run's workers fit on a Ray cluster? Ray itself would wait for ever, without a word.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lockstep/cluster/ray_node.h"

namespace lockstep::cluster {

struct WorkerDemand {
  int64_t num_workers = 1;             // the least that will do
  std::map<std::string, double> each;  // what one takes, from one node: {"CPU": 1, "GPU": 1}
};

// Whole GPUs of the nodes that live.
int num_gpus(const std::vector<RayNode>& nodes);

// Counts what there is, whether used or not: a job may wait for another to end. Throws ConfigError with Ray's
// count, the count that is wanted and what each node has, naming dead nodes, and accelerators of another kind
// where a GPU was expected.
void require_room(const std::vector<RayNode>& nodes, const WorkerDemand& demand);

}  // namespace lockstep::cluster
