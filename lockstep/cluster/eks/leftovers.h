// What a cluster leaves behind in practice: found by asking for every kind, not by remembering.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/eks/aws.h"

namespace lockstep::cluster::eks {

struct Leftover {
  std::string kind;  // "volume"
  std::string id;
  std::string note;             // "20 GiB"
  double dollars_per_hour = 0;  // 0: nothing, or not known here
  std::vector<std::string>
      remove;  // the arguments of `aws` that remove it; empty: a person decides (it holds data)
};

struct LeftoverSearch {
  std::vector<Leftover> found;
  std::vector<std::string> not_asked;  // "file systems: AccessDenied…"
  int num_kinds = 0;                   // that were asked for
};

// By the cluster's tags and names: reservations, stacks, instances, volumes, network interfaces, security
// groups, load balancers, NAT gateways, addresses, log groups, file systems.
LeftoverSearch find_leftovers(Aws& aws, const std::string& cluster);

std::string to_text(const std::vector<Leftover>& leftovers);
Json to_json(const std::vector<Leftover>& leftovers);

}  // namespace lockstep::cluster::eks
