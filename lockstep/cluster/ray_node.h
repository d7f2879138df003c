// A node of a Ray cluster, as Ray's state API lists it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::cluster {

struct RayNode {
  std::string name;  // its address where it was given no other name
  std::string ip;
  bool is_head = false;
  bool is_alive = false;                    // Ray notices a death after some 15 seconds
  std::map<std::string, double> resources;  // all that it has, used or not: {"CPU": 4, "GPU": 1, ...}

  double amount(const std::string& resource) const;  // 0 when it has none
  std::string label() const;                         // "w1 (10.0.0.2)", or the address alone
};

// From the answer of GET /api/v0/nodes (NodeState in python/ray/util/state/common.py of ray-project/ray).
// Throws Json::exception when it has another shape.
std::vector<RayNode> ray_nodes_from(const Json& answer);

}  // namespace lockstep::cluster
