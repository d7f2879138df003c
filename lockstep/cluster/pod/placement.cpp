#include "lockstep/cluster/pod/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"
#include "lockstep/cluster/eks/readiness.h"

namespace lockstep::cluster::pod {
namespace {

using eks::part_of;
using eks::text_of;

struct GpuNode {
  std::string name, zone, instance;
};

std::vector<GpuNode> gpu_nodes(eks::Kubernetes& kubernetes) {
  std::vector<GpuNode> nodes;
  const Json answer = eks::list_nodes(kubernetes);
  for (const Json& node : part_of(answer, "items")) {
    if (!eks::has_gpu_label(node)) continue;
    const std::string provider = text_of(part_of(node, "spec"), "providerID");  // "aws:///us-east-2b/i-0a1b"
    nodes.push_back({.name = eks::name_of(node),
                     .zone = eks::label_of(node, "topology.kubernetes.io/zone"),
                     .instance = provider.substr(provider.rfind('/') + 1)});
  }
  return nodes;
}

std::map<std::string, std::string> vpcs_of(eks::Aws& aws, const std::vector<GpuNode>& nodes) {
  std::vector<std::string> call = {"ec2", "describe-instances", "--instance-ids"};
  for (const GpuNode& node : nodes) call.push_back(node.instance);
  const Json answer = aws.call(call);
  std::map<std::string, std::string> vpcs;
  for (const Json& reservation : part_of(answer, "Reservations")) {
    for (const Json& instance : part_of(reservation, "Instances"))
      vpcs[text_of(instance, "InstanceId")] = text_of(instance, "VpcId");
  }
  return vpcs;
}

// `places`: where each node is; "" where nobody said.
void require_one(const std::string& kind, const std::map<std::string, std::vector<std::string>>& places) {
  if (places.size() == 1 && !places.contains("")) return;
  std::vector<std::string> texts;
  for (const auto& [place, nodes] : places)
    texts.push_back(fmt::format("{}: {}", place.empty() ? "not known" : place, fmt::join(nodes, ", ")));
  throw ConfigError(fmt::format(
      "cluster: the GPU nodes are not in one {} ({}), and EFA does not cross one: put them into one with "
      "gpu_nodes.zones, or set network.require: any to train over TCP",
      kind, fmt::join(texts, "; ")));
}

}  // namespace

void require_placement(eks::Kubernetes& kubernetes, eks::Aws& aws, const eks::Deployment& deployment) {
  if (deployment.settings.uses_efa()) {
    const std::vector<GpuNode> nodes = gpu_nodes(kubernetes);
    if (nodes.empty())
      throw ConfigError("cluster: no node has the label nvidia.com/gpu.present=true: `lockstep cluster up`");
    std::map<std::string, std::vector<std::string>> in_zones, in_vpcs;
    for (const GpuNode& node : nodes) in_zones[node.zone].push_back(node.name);
    require_one("availability zone", in_zones);
    const auto vpcs = vpcs_of(aws, nodes);
    for (const GpuNode& node : nodes) {
      const auto vpc = vpcs.find(node.instance);
      in_vpcs[vpc == vpcs.end() ? "" : vpc->second].push_back(node.name);
    }
    require_one("VPC", in_vpcs);
  }
  const eks::Readiness readiness = eks::look_at_ray(kubernetes, deployment);
  if (!readiness.ready())
    throw ConfigError(fmt::format(
        "cluster: Ray is not ready for a job: {}: `lockstep cluster up` waits for it", readiness.to_text()));
}

}  // namespace lockstep::cluster::pod
