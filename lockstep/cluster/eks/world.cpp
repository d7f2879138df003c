#include "lockstep/cluster/eks/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/deployment.h"

namespace lockstep::cluster::eks {
namespace {

void read_stacks(Aws& aws, const ClusterSettings& settings, World& world) {
  const std::string prefix = fmt::format("eksctl-{}-", settings.name);
  const Json answer = aws.call({"cloudformation", "describe-stacks"});
  for (const Json& stack : part_of(answer, "Stacks")) {
    const std::string name = text_of(stack, "StackName");
    const bool is_ours = name == prefix + "cluster" || name.starts_with(prefix + "nodegroup-") ||
                         name.starts_with(prefix + "addon-");
    if (is_ours) world.stacks[name] = text_of(stack, "StackStatus");
  }
}

void read_node_groups(Aws& aws, const ClusterSettings& settings, World& world) {
  const Json answer = aws.call({"eks", "list-nodegroups", "--cluster-name", settings.name});
  for (const Json& name : part_of(answer, "nodegroups")) {
    const Json group = aws.call_or_null({"eks", "describe-nodegroup", "--cluster-name", settings.name,
                                         "--nodegroup-name", name.get<std::string>()},
                                        {"ResourceNotFoundException"});
    const Json& found = part_of(group, "nodegroup");
    if (found.is_null()) continue;
    NodeGroup& entry = world.node_groups[name.get<std::string>()];
    entry.status = text_of(found, "status");
    entry.desired = number_of(part_of(found, "scalingConfig"), "desiredSize");
    for (const Json& scaling : part_of(part_of(found, "resources"), "autoScalingGroups"))
      entry.scaling_group = text_of(scaling, "name");
    entry.image_type = text_of(found, "amiType");
    entry.launch_template = text_of(part_of(found, "launchTemplate"), "id");
    entry.launch_template_version = text_of(part_of(found, "launchTemplate"), "version");
    for (const Json& subnet : part_of(found, "subnets")) entry.subnets.push_back(subnet.get<std::string>());
    for (const Json& issue : part_of(part_of(found, "health"), "issues"))
      entry.issues.push_back(fmt::format("{}: {}", text_of(issue, "code"), text_of(issue, "message")));
  }
}

void read_subnets(Aws& aws, const Json& cluster, World& world) {
  const Json& ids = part_of(part_of(cluster, "resourcesVpcConfig"), "subnetIds");
  if (ids.empty()) return;
  std::vector<std::string> call = {"ec2", "describe-subnets", "--subnet-ids"};
  for (const Json& id : ids) call.push_back(id.get<std::string>());
  const Json answer = aws.call(call);
  for (const Json& subnet : part_of(answer, "Subnets")) {
    const std::string zone = text_of(subnet, "AvailabilityZone");
    auto& zones = world.cluster_subnet_zones;
    if (std::find(zones.begin(), zones.end(), zone) == zones.end()) zones.push_back(zone);
  }
  std::sort(world.cluster_subnet_zones.begin(), world.cluster_subnet_zones.end());
}

}  // namespace

Reservation Reservation::from(const Json& json) {
  return {.id = text_of(json, "CapacityReservationId"),
          .state = text_of(json, "State"),
          .zone = text_of(json, "AvailabilityZone"),
          .zone_id = text_of(json, "AvailabilityZoneId"),
          .type = text_of(json, "InstanceType"),
          .platform = text_of(json, "InstancePlatform"),
          .match = text_of(json, "InstanceMatchCriteria"),
          .end = text_of(json, "EndDate"),
          .placement_group = text_of(json, "PlacementGroupArn"),
          .total = number_of(json, "TotalInstanceCount"),
          .available = number_of(json, "AvailableInstanceCount")};
}

std::vector<Reservation> our_reservations(Aws& aws, const std::string& cluster) {
  const Json answer = aws.call({"ec2", "describe-capacity-reservations", "--filters",
                                fmt::format("Name=tag:{},Values={}", kClusterTag, cluster)});
  std::vector<Reservation> ours;
  for (const Json& json : part_of(answer, "CapacityReservations")) {
    const Reservation reservation = Reservation::from(json);
    if (reservation.bills()) ours.push_back(reservation);
  }
  return ours;
}

Reservation find_reservation(Aws& aws, const std::string& id) {
  const Json answer =
      aws.call_or_null({"ec2", "describe-capacity-reservations", "--capacity-reservation-ids", id},
                       {"InvalidCapacityReservationId.NotFound"});
  const Json& list = part_of(answer, "CapacityReservations");
  if (list.empty())
    throw ConfigError(
        fmt::format("cluster: gpu_nodes.reservation: there is no {} in {} for this account: check the id and "
                    "the region",
                    id, aws.region()));
  return Reservation::from(list.front());
}

World look_at_world(Aws& aws, const ClusterSettings& settings) {
  World world;
  read_stacks(aws, settings, world);
  world.reservations = our_reservations(aws, settings.name);
  const Json answer =
      aws.call_or_null({"eks", "describe-cluster", "--name", settings.name}, {"ResourceNotFoundException"});
  if (answer.is_null()) return world;
  const Json& cluster = part_of(answer, "cluster");
  world.cluster_status = text_of(cluster, "status");
  world.cluster_version = text_of(cluster, "version");
  read_node_groups(aws, settings, world);
  read_subnets(aws, cluster, world);
  return world;
}

std::string node_group_stack(const std::string& cluster, const std::string& group) {
  return fmt::format("eksctl-{}-nodegroup-{}", cluster, group);
}

}  // namespace lockstep::cluster::eks
