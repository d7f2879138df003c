#include "lockstep/cluster/worker_room.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/cluster/ray_resource.h"

namespace lockstep::cluster {
namespace {

int64_t room_on(const RayNode& node, const WorkerDemand& demand) {
  double room = static_cast<double>(demand.num_workers);
  for (const auto& [resource, amount] : demand.each) {
    if (amount > 0) room = std::min(room, std::floor(node.amount(resource) / amount));
  }
  return static_cast<int64_t>(room);
}

double total(const std::vector<RayNode>& alive, const std::string& resource) {
  double sum = 0;
  for (const RayNode& node : alive) sum += node.amount(resource);
  return sum;
}

// The resource of which there is not enough in all, GPUs before others; none when only its spread is at
// fault.
std::optional<std::string> scarce_resource(const std::vector<RayNode>& alive, const WorkerDemand& demand) {
  std::optional<std::string> scarce;
  for (const auto& [resource, amount] : demand.each) {
    const bool is_scarce = total(alive, resource) < amount * static_cast<double>(demand.num_workers);
    if (is_scarce && (!scarce || resource == "GPU")) scarce = resource;
  }
  return scarce;
}

std::string has(const RayNode& node, const std::vector<std::string>& resources) {
  std::vector<std::string> parts;
  for (const std::string& resource : resources) parts.push_back(counted_on(node, resource));
  return fmt::format("{}{} {}", node.label(), node.is_head ? ", the head," : "", fmt::join(parts, " and "));
}

std::string inventory(const std::vector<RayNode>& nodes, const std::vector<std::string>& resources) {
  std::vector<std::string> living, dead;
  for (const RayNode& node : nodes) {
    if (node.is_alive) {
      living.push_back(has(node, resources));
    } else {
      dead.push_back(node.label());
    }
  }
  std::string text = fmt::format("{}", fmt::join(living, "; "));
  if (!dead.empty()) text += fmt::format("; dead: {}", fmt::join(dead, ", "));
  return text;
}

std::string way_out(int64_t room, bool lacks_gpu) {
  std::string fewer = room > 0 ? fmt::format("set scaling.num_workers={}", room) : "";
  if (lacks_gpu && room == 0) fewer = "set scaling.use_gpu=false to train on the CPU";
  return fmt::format("Add nodes that have it, or tell Ray of what is there (ray start --num-{}s){}{}",
                     lacks_gpu ? "gpu" : "cpu", fewer.empty() ? "" : ", or ", fewer);
}

}  // namespace

int num_gpus(const std::vector<RayNode>& nodes) {
  double count = 0;
  for (const RayNode& node : nodes) {
    if (node.is_alive) count += std::floor(node.amount("GPU"));
  }
  return static_cast<int>(count);
}

void require_room(const std::vector<RayNode>& nodes, const WorkerDemand& demand) {
  std::vector<RayNode> alive;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(alive),
               [](const RayNode& node) { return node.is_alive; });
  int64_t room = 0;
  for (const RayNode& node : alive) room += room_on(node, demand);
  if (room >= demand.num_workers) return;

  std::vector<std::string> wanted, resources;
  for (const auto& [resource, amount] : demand.each) wanted.push_back(counted(amount, resource));
  const auto scarce = scarce_resource(alive, demand);
  for (const auto& [resource, amount] : demand.each) {
    if (!scarce || resource == *scarce) resources.push_back(resource);
  }
  const std::string seen =
      scarce ? fmt::format(
                   "Ray counts {}, {} wanted", counted(total(alive, *scarce), *scarce),
                   fmt::format("{:g}", demand.each.at(*scarce) * static_cast<double>(demand.num_workers)))
             : fmt::format("there is room for {}, {} wanted, since what a worker takes must be on one node",
                           room, demand.num_workers);
  throw ConfigError(fmt::format("ray: {} (scaling.num_workers {}, each {}): {}. {}", seen, demand.num_workers,
                                fmt::join(wanted, " and "), inventory(nodes, resources),
                                way_out(room, scarce == "GPU")));
}

}  // namespace lockstep::cluster
