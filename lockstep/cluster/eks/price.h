// What a deployment costs, by the list prices of the catalogue.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/eks/deployment.h"

namespace lockstep::cluster::eks {

struct PriceItem {
  std::string what;  // "2 x g6.12xlarge"
  double dollars_per_hour = 0;
  std::string note;  // why it is what it is; may be empty
};

struct Price {
  std::vector<PriceItem> items;      // that run as long as the cluster does
  std::vector<PriceItem> besides;    // small, or by use: not in the sum
  std::vector<std::string> unknown;  // what has no price here, so that the sum is too low

  double dollars_per_hour() const;
  std::string to_text() const;
  Json to_json() const;
};

// `extended_support`: EKS asks six times as much for a Kubernetes version past its standard support.
Price price_of(const Deployment& deployment, bool extended_support = false);

// Of them alone, for a reservation without a cluster.
Price price_of_gpu_nodes(const Deployment& deployment);

}  // namespace lockstep::cluster::eks
