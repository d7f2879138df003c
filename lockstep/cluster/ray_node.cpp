#include "lockstep/cluster/ray_node.h"

#include <fmt/format.h>

namespace lockstep::cluster {

double RayNode::amount(const std::string& resource) const {
  const auto found = resources.find(resource);
  return found == resources.end() ? 0 : found->second;
}

std::string RayNode::label() const {
  return name.empty() || name == ip ? ip : fmt::format("{} ({})", name, ip);
}

std::vector<RayNode> ray_nodes_from(const Json& answer) {
  std::vector<RayNode> nodes;
  for (const Json& json : answer.at("data").at("result").at("result")) {
    RayNode node;
    node.name = json.at("node_name").get<std::string>();
    node.ip = json.at("node_ip").get<std::string>();
    node.is_head = json.at("is_head_node").get<bool>();
    node.is_alive = json.at("state").get<std::string>() == "ALIVE";
    for (const auto& [resource, amount] : json.at("resources_total").items())
      node.resources[resource] = amount.get<double>();
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace lockstep::cluster
