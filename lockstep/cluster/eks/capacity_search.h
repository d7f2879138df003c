// Finding a zone that has room for all GPU nodes, by reserving them there.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/eks/aws.h"
#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/eks/world.h"

namespace lockstep::cluster::eks {

// No zone has room. `what` tells each zone's answer, and zones that EC2 itself named instead.
class NoCapacityError : public CommandError {
 public:
  using CommandError::CommandError;
};

// Tries `zones` in order and returns the reservation that was made: it bills from then on, whether used or
// not, and ends by itself at `end` ("2026-01-02T03:04:05Z"). One of ours that is there already and fits is
// returned instead. Throws NoCapacityError, and what else AWS refuses (a quota, a missing right) at once: the
// next zone would answer the same. A call that ends without an answer may have made one all the same: the
// caller cancels by tag.
Reservation find_capacity(Aws& aws, const Deployment& deployment, const std::vector<std::string>& zones,
                          const std::string& end);

// Cancels every reservation with our tag that still bills. Throws CommandError naming those that could not
// be.
void cancel_our_reservations(Aws& aws, const std::string& cluster);

}  // namespace lockstep::cluster::eks
