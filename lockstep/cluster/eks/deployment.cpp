#include "lockstep/cluster/eks/deployment.h"

#include <algorithm>
#include <charconv>

#include "lockstep/base/split.h"

namespace lockstep::cluster::eks {
namespace {

std::vector<int> numbers_in(const std::string& version) {
  std::vector<int> numbers;
  for (const std::string& part : split(version.starts_with('v') ? version.substr(1) : version, '.')) {
    int number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

bool is_version_before(const std::string& version, const std::string& other) {
  std::vector<int> left = numbers_in(version), right = numbers_in(other);
  left.resize(std::max(left.size(), right.size()));
  right.resize(left.size());
  return left < right;
}

bool Deployment::operator_makes_token() const { return !is_version_before(settings.charts.kuberay, "1.5.1"); }

std::string Deployment::token_secret() const {
  return operator_makes_token() ? settings.ray_cluster : settings.ray_cluster + "-token";
}

Deployment assumed_deployment(const ClusterSettings& settings) {
  Deployment deployment{.settings = settings,
                        .cluster_zones = settings.zones,
                        .gpu_zones = settings.gpu_nodes.zones,
                        .reservation = settings.gpu_nodes.reservation};
  auto& cluster_zones = deployment.cluster_zones;
  const auto add = [&](const std::string& zone) {
    if (std::find(cluster_zones.begin(), cluster_zones.end(), zone) == cluster_zones.end())
      cluster_zones.push_back(zone);
  };
  if (settings.zones.empty()) {
    for (const auto& [zone, subnet] : settings.vpc.private_subnets) add(zone);
    for (const std::string& zone : settings.gpu_nodes.zones) add(zone);
    for (const char* letter : {"a", "b"}) {
      if (cluster_zones.size() < 2) add(settings.region + letter);
    }
  }
  deployment.zones_are_assumed = settings.gpu_nodes.zones.empty();
  if (deployment.gpu_zones.empty()) deployment.gpu_zones = {cluster_zones.front()};
  return deployment;
}

}  // namespace lockstep::cluster::eks
