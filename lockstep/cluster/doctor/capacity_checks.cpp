// Whether there could be nodes, and whether they came: quota, capacity, reservation, joining.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "lockstep/cluster/doctor/checks.h"
#include "lockstep/cluster/eks/quota.h"

namespace lockstep::cluster::doctor {
namespace {

// The first of AWS' words for why nodes were not launched that has one of these in it.
std::optional<std::string> failure_with(const Observation& seen, const std::string& words) {
  const std::regex any(words);
  for (const std::string& failure : seen.account.failures.need()) {
    if (std::regex_search(failure, any)) return failure;
  }
  return std::nullopt;
}

const eks::NodeGroup* gpu_nodes(const Observation& seen) { return seen.account.gpu_nodes(seen.deployment); }

std::string no_gpu_nodes(const Observation& seen) {
  return fmt::format("there is no node group {}", seen.settings().gpu_nodes.name);
}

// That the nodes are to be in: the given one, or the one that `up` made. Nothing where there is none.
std::optional<eks::Reservation> wanted_reservation(const Observation& seen) {
  if (!seen.settings().gpu_nodes.reservation.empty()) return seen.account.given_reservation.need();
  const auto& ours = seen.account.world.reservations;
  return ours.empty() ? std::nullopt : std::optional(ours.front());
}

// "my-group" of "arn:aws:resource-groups:us-east-2:123456789012:placement-group/my-group"
std::string name_in_arn(const std::string& arn) { return arn.substr(arn.rfind('/') + 1); }

std::string words_for(const DefaultRoute& route) {
  if (route.target.empty()) return fmt::format("{} has no way out", route.subnet);
  return fmt::format("{} goes out by {}{}", route.subnet, route.target,
                     route.is_blackhole ? ", which is gone" : "");
}

}  // namespace

Finding check_gpu_quota(const Observation& seen) {
  const eks::InstanceType& type = seen.deployment.gpu_type();
  const int64_t needed = type.vcpus * seen.settings().gpu_nodes.count;
  const std::string fix = quota_increase(type, needed, seen.settings().region);
  const std::string cause =
      fmt::format("the account may run too few vCPUs of \"{}\"; new accounts often none", type.quota_name());
  if (const auto failure = failure_with(seen, "VcpuLimitExceeded|vCPU limit"))
    return fault(*failure, cause, fix);
  if (gpu_nodes(seen)) return good("the nodes are there already");
  const int64_t quota = seen.account.gpu_quota.need();
  const std::string saw = fmt::format("{} vCPUs of \"{}\", {} needed", quota, type.quota_name(), needed);
  return quota < needed ? fault(saw, cause, fix) : good(saw);
}

Finding check_capacity(const Observation& seen) {
  if (const auto failure =
          failure_with(seen, "InsufficientInstanceCapacity|not have sufficient|no Spot capacity"))
    return fault(
        *failure, fmt::format("EC2 had no {} free there", seen.settings().gpu_nodes.type),
        "gpu_nodes.capacity: search tries zone after zone with a reservation before anything else is "
        "made; or another region, type, or a reservation of your own");
  return good(gpu_nodes(seen) ? "no launch of the nodes was refused for want of capacity"
                              : "no launch was refused; whether there is room only a reservation tells");
}

Finding check_placement_group(const Observation& seen) {
  if (!gpu_nodes(seen)) return nothing_to_see(no_gpu_nodes(seen));
  const auto reservation = wanted_reservation(seen);
  if (!reservation) return nothing_to_see("no reservation is used");
  const std::string& group = seen.account.launch_template.need().placement_group;
  if (group.empty()) return good("the nodes are launched in no placement group");
  const std::string own = name_in_arn(reservation->placement_group);
  if (group == own) return good(fmt::format("both are in placement group {}", group));
  return fault(
      fmt::format("the nodes are launched in placement group {}, {} is of {}", group, reservation->id,
                  own.empty() ? "none" : own),
      "EC2 does not find a reservation's room from inside another placement group, and answers that it "
      "has no capacity",
      "make the node group anew without a placement group (`eksctl delete nodegroup`, then `lockstep "
      "cluster up`), or make the reservation in that group");
}

Finding check_reservation_target(const Observation& seen) {
  const eks::NodeGroup* group = gpu_nodes(seen);
  if (!group) return nothing_to_see(no_gpu_nodes(seen));
  const auto reservation = wanted_reservation(seen);
  if (!reservation) return nothing_to_see("no reservation is used");
  const std::string& target = seen.account.launch_template.need().reservation;
  if (target == reservation->id) return good(fmt::format("the nodes are launched into {}", target));
  return fault(
      fmt::format("{} of the GPU nodes targets {}, and {} is for them", group->launch_template,
                  target.empty() ? "no reservation" : target, reservation->id),
      "the nodes are launched outside of it, if at all, and it bills for nothing: eksctl drops the key "
      "without a word where it is not spelled capacityReservationID",
      "make the node group anew: `eksctl delete nodegroup`, then `lockstep cluster up`");
}

Finding check_nodes_join(const Observation& seen) {
  const auto failure = failure_with(seen, "NodeCreationFailure|failed to join");
  if (!failure) {
    const eks::NodeGroup* group = gpu_nodes(seen);
    if (!group) return nothing_to_see(no_gpu_nodes(seen));
    return good(fmt::format("the node group is {}, without a failure to join", group->status));
  }
  std::vector<std::string> routes;
  bool has_way_out = true;
  for (const DefaultRoute& route : seen.account.default_routes.answer.value_or(std::vector<DefaultRoute>())) {
    routes.push_back(words_for(route));
    has_way_out = has_way_out && !route.target.empty() && !route.is_blackhole;
  }
  const std::string saw =
      routes.empty() ? *failure : fmt::format("{}; {}", *failure, fmt::join(routes, ", "));
  if (!has_way_out)
    return fault(saw, "the nodes reach neither EKS nor a registry",
                 "give the subnet's route table a way to a NAT gateway (vpc.nat), or VPC endpoints");
  return fault(saw, "the nodes do not reach the cluster's endpoint, or it does not know their role",
               "turn the cluster's private endpoint on; give the node role AmazonEKSWorkerNodePolicy, "
               "AmazonEKS_CNI_Policy and AmazonEC2ContainerRegistryPullOnly; the instance's console output "
               "(`aws ec2 get-console-output`) has the kubelet's words");
}

}  // namespace lockstep::cluster::doctor
