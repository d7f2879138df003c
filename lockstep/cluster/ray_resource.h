// Amounts of what a Ray node has, in words.
#pragma once

#include <string>

#include "lockstep/cluster/ray_node.h"

namespace lockstep::cluster {

// "2 GPUs", "1 GPU", "no GPU"; others than CPU and GPU keep their names: "4 licence".
std::string counted(double amount, const std::string& resource);

// counted() of what the node has of `resource`; a node without a GPU also with the accelerators that Ray took
// for something else: "no GPU but 1 TPU".
std::string counted_on(const RayNode& node, const std::string& resource);

}  // namespace lockstep::cluster
