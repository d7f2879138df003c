// CloudFormation stacks that eksctl left behind, which it refuses to make anew.
#pragma once

#include <functional>
#include <string>

#include "lockstep/cluster/eks/aws.h"
#include "lockstep/cluster/eks/world.h"

namespace lockstep::cluster::eks {

// Deletes the stacks in world.stacks whose name `wanted` takes, node groups' before the cluster's, and waits
// for each. Throws CommandError.
void delete_stacks(Aws& aws, const World& world, const std::function<bool(const std::string&)>& wanted);

}  // namespace lockstep::cluster::eks
