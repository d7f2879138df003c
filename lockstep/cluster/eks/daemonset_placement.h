// Why a DaemonSet does not run on a node: Kubernetes itself only counts those that it wants there.
#pragma once

#include <string>

#include "lockstep/base/json.h"

namespace lockstep::cluster::eks {

// The label that its nodeSelector misses, or the taint that it does not tolerate; "" where neither is why. Of
// affinity only what NVIDIA's and EFA's charts have is known: a label that must be one of some values.
std::string why_not_placed(const Json& daemonset, const Json& node);

}  // namespace lockstep::cluster::eks
