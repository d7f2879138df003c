#include "lockstep/cluster/doctor/account_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/quota.h"

namespace lockstep::cluster::doctor {
namespace {

using eks::part_of;
using eks::text_of;

using eks::Aws;

bool has_failed(const std::string& stack_status) {
  return stack_status.find("FAILED") != stack_status.npos ||
         stack_status.find("ROLLBACK") != stack_status.npos;
}

// Of the node groups, and of stacks that failed: after a rollback the group itself is gone.
std::vector<std::string> launch_failures(Aws& aws, const eks::World& world) {
  std::vector<std::string> failures;
  for (const auto& [name, group] : world.node_groups)
    failures.insert(failures.end(), group.issues.begin(), group.issues.end());
  for (const auto& [name, status] : world.stacks) {
    if (!has_failed(status)) continue;
    const Json events = aws.call({"cloudformation", "describe-stack-events", "--stack-name", name});
    for (const Json& event : part_of(events, "StackEvents")) {
      const std::string reason = text_of(event, "ResourceStatusReason");
      // Those that were given up for another's sake say nothing.
      if (text_of(event, "ResourceStatus").ends_with("_FAILED") && reason.find("cancelled") == reason.npos)
        failures.push_back(reason);
    }
  }
  return failures;
}

LaunchTemplate read_launch_template(Aws& aws, const eks::NodeGroup& group) {
  if (group.launch_template.empty()) throw CommandError("the GPU nodes were made without a launch template");
  const Json answer = aws.call(
      {"ec2", "describe-launch-template-versions", "--launch-template-id", group.launch_template,
       "--versions", group.launch_template_version.empty() ? "$Latest" : group.launch_template_version});
  const Json& versions = part_of(answer, "LaunchTemplateVersions");
  if (versions.empty()) throw CommandError(fmt::format("EC2 tells nothing of {}", group.launch_template));
  const Json& data = part_of(versions.front(), "LaunchTemplateData");
  const Json& target =
      part_of(part_of(data, "CapacityReservationSpecification"), "CapacityReservationTarget");
  return {.placement_group = text_of(part_of(data, "Placement"), "GroupName"),
          .reservation = text_of(target, "CapacityReservationId")};
}

Instance instance_from(const Json& json) {
  Instance instance{.id = text_of(json, "InstanceId")};
  std::set<std::string> of_efa, of_all;
  for (const Json& interface : part_of(json, "NetworkInterfaces")) {
    const bool is_efa = text_of(interface, "InterfaceType").starts_with("efa");
    instance.efa_interfaces += is_efa ? 1 : 0;
    for (const Json& group : part_of(interface, "Groups")) {
      of_all.insert(text_of(group, "GroupId"));
      if (is_efa) of_efa.insert(text_of(group, "GroupId"));
    }
  }
  const auto& groups = of_efa.empty() ? of_all : of_efa;
  instance.security_groups.assign(groups.begin(), groups.end());
  return instance;
}

std::vector<Instance> list_instances(Aws& aws, const eks::ClusterSettings& settings) {
  const Json answer = aws.call({"ec2", "describe-instances", "--filters",
                                fmt::format("Name=tag:eks:cluster-name,Values={}", settings.name),
                                fmt::format("Name=tag:eks:nodegroup-name,Values={}", settings.gpu_nodes.name),
                                "Name=instance-state-name,Values=pending,running"});
  std::vector<Instance> instances;
  for (const Json& group : part_of(answer, "Reservations")) {
    for (const Json& instance : part_of(group, "Instances")) instances.push_back(instance_from(instance));
  }
  return instances;
}

bool names_itself(const Json& rules, const std::string& group) {
  for (const Json& rule : rules) {
    if (text_of(rule, "IpProtocol") != "-1") continue;
    for (const Json& pair : part_of(rule, "UserIdGroupPairs")) {
      if (text_of(pair, "GroupId") == group) return true;
    }
  }
  return false;
}

std::vector<SecurityGroup> read_security_groups(Aws& aws, const std::vector<Instance>& instances) {
  std::set<std::string> ids;
  for (const Instance& one : instances) ids.insert(one.security_groups.begin(), one.security_groups.end());
  std::vector<SecurityGroup> groups;
  if (ids.empty()) return groups;
  std::vector<std::string> call = {"ec2", "describe-security-groups", "--group-ids"};
  call.insert(call.end(), ids.begin(), ids.end());
  const Json answer = aws.call(call);
  for (const Json& json : part_of(answer, "SecurityGroups")) {
    const std::string id = text_of(json, "GroupId");
    groups.push_back({.id = id,
                      .all_from_itself = names_itself(part_of(json, "IpPermissions"), id),
                      .all_to_itself = names_itself(part_of(json, "IpPermissionsEgress"), id)});
  }
  return groups;
}

DefaultRoute default_route_in(const Json& table, const std::string& subnet) {
  DefaultRoute found{.subnet = subnet};
  for (const Json& route : part_of(table, "Routes")) {
    if (text_of(route, "DestinationCidrBlock") != "0.0.0.0/0") continue;
    for (const char* kind : {"NatGatewayId", "GatewayId", "TransitGatewayId", "NetworkInterfaceId"}) {
      if (const std::string id = text_of(route, kind); !id.empty()) found.target = id;
    }
    found.is_blackhole = text_of(route, "State") == "blackhole";
  }
  return found;
}

// Of the subnets that have a route table of their own, as those that eksctl makes do.
std::vector<DefaultRoute> read_default_routes(Aws& aws, const std::vector<std::string>& subnets) {
  std::vector<DefaultRoute> routes;
  if (subnets.empty()) return routes;
  const Json answer =
      aws.call({"ec2", "describe-route-tables", "--filters",
                fmt::format("Name=association.subnet-id,Values={}", fmt::join(subnets, ","))});
  for (const Json& table : part_of(answer, "RouteTables")) {
    for (const Json& association : part_of(table, "Associations")) {
      const std::string subnet = text_of(association, "SubnetId");
      if (std::find(subnets.begin(), subnets.end(), subnet) != subnets.end())
        routes.push_back(default_route_in(table, subnet));
    }
  }
  return routes;
}

}  // namespace

const eks::NodeGroup* AccountView::gpu_nodes(const eks::Deployment& deployment) const {
  const auto group = world.node_groups.find(deployment.settings.gpu_nodes.name);
  return group == world.node_groups.end() ? nullptr : &group->second;
}

AccountView look_at_account(Aws& aws, const eks::Deployment& deployment) {
  const eks::ClusterSettings& settings = deployment.settings;
  AccountView view{.world = look_at_world(aws, settings)};
  view.gpu_quota = ask([&] { return vcpu_quota(aws, deployment.gpu_type()); });
  view.failures = ask([&] { return launch_failures(aws, view.world); });
  if (!settings.gpu_nodes.reservation.empty())
    view.given_reservation = ask([&] { return find_reservation(aws, settings.gpu_nodes.reservation); });
  if (const eks::NodeGroup* group = view.gpu_nodes(deployment)) {
    view.launch_template = ask([&] { return read_launch_template(aws, *group); });
    view.instances = ask([&] { return list_instances(aws, settings); });
    view.default_routes = ask([&] { return read_default_routes(aws, group->subnets); });
    if (view.instances.answer)
      view.security_groups = ask([&] { return read_security_groups(aws, *view.instances.answer); });
    else
      view.security_groups.why_not = view.instances.why_not;
  }
  if (view.world.cluster_status.empty())
    view.leftovers = ask([&] { return find_leftovers(aws, settings.name); });
  return view;
}

}  // namespace lockstep::cluster::doctor
