#include "tests/cluster/eks/fake_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/recipe_value.h"
#include "lockstep/base/yaml_document.h"
#include "tests/cluster/eks/fake_words.h"

namespace lockstep::cluster::eks {
namespace {

CommandResult refused(const std::string& code, const std::string& operation, const std::string& message) {
  return {.exit_code = 254,
          .err = fmt::format("\nAn error occurred ({}) when calling the {} operation: {}\n", code, operation,
                             message)};
}

Json yaml(const std::string& text) {
  return RecipeType<Json>::read(
      {.key = "", .name = "input", .origin = "input", .node = parse_yaml(text, "input")});
}

const std::string kName = "lockstep";

Json eksctl_tag() { return Json::array({{{"Key", "alpha.eksctl.io/cluster-name"}, {"Value", kName}}}); }

}  // namespace

CommandResult FakeWorld::run(const Command& command) {
  const size_t number = num_commands++;
  log.push_back(command_line(command));
  if (!fault || fault->at != number) return answer(command);
  switch (fault->kind) {
    case Failure::kError:
      fail_half_way(command);
      return command.argv[0] == "aws" ? refused("InternalError", "Any", "made to fail")
                                      : CommandResult{.exit_code = 1, .err = "made to fail\n"};
    case Failure::kTimeout:
      answer(command);
      return {.exit_code = 143, .timed_out = true};
    case Failure::kGarbage:
      answer(command);
      return {.out = "<html>502 Bad Gateway</html>"};
    case Failure::kInterrupt:
      throw InterruptedError("interrupted");
    case Failure::kInterruptLate:
      answer(command);
      throw InterruptedError("interrupted");
  }
  return {};
}

void FakeWorld::fail_half_way(const Command& command) {
  if (begins(command.argv, {"eksctl", "create", "cluster"}) && !has(command.argv, "--dry-run")) {
    cluster_status = "ACTIVE";  // and no system nodes
    stacks["eksctl-lockstep-cluster"] = "CREATE_COMPLETE";
  }
  if (begins(command.argv, {"eksctl", "create", "nodegroup"})) {
    const Json config = yaml(command.input);
    const std::string name = config["managedNodeGroups"][0]["name"];
    node_groups[name] = {"CREATE_FAILED", "", 2};
    stacks["eksctl-lockstep-nodegroup-" + name] = "ROLLBACK_COMPLETE";
  }
  if (begins(command.argv, {"eksctl", "delete", "cluster"})) {
    cluster_status.clear();
    node_groups.clear();
    stacks["eksctl-lockstep-cluster"] = "DELETE_FAILED";
  }
}

CommandResult FakeWorld::answer(const Command& command) {
  const Words& argv = command.argv;
  if (argv[0] == "aws") return aws(argv);
  if (argv[0] == "eksctl") return eksctl(command);
  if (argv[0] == "kubectl") return kubectl(command);
  if (argv[0] == "helm") return kubernetes.helm(command);
  return {.exit_code = 127, .err = fmt::format("the fake knows no {}\n", argv[0])};
}

CommandResult FakeWorld::aws(const Words& argv) {
  if (has(argv, "--version")) return {.out = "aws-cli/2.30.1 Python/3.13\n"};
  if (argv[1] == "ec2") return ec2(argv);
  const Words verb(argv.begin() + 1, argv.begin() + 3);
  if (verb == Words{"sts", "get-caller-identity"})
    return printed({{"Account", "123456789012"}, {"Arn", "arn:aws:iam::123456789012:user/ann"}});
  if (verb == Words{"service-quotas", "get-service-quota"})
    return printed({{"Quota",
                     {{"Value", option(argv, "--quota-code") == "L-DB2E81BA" ? static_cast<double>(gpu_quota)
                                                                             : 64.0}}}});
  if (verb == Words{"eks", "describe-cluster-versions"})
    return printed({{"clusterVersions", Json::parse(cluster_versions)}});
  if (verb == Words{"eks", "describe-cluster"}) {
    if (cluster_status.empty())
      return refused("ResourceNotFoundException", "DescribeCluster", "No cluster found");
    return printed({{"cluster",
                     {{"status", cluster_status},
                      {"version", "1.36"},
                      {"resourcesVpcConfig", {{"subnetIds", Json::array({"subnet-a", "subnet-b"})}}}}}});
  }
  if (verb == Words{"eks", "list-nodegroups"}) {
    Json names = Json::array();
    for (const auto& [name, group] : node_groups) names.push_back(name);
    return printed({{"nodegroups", names}});
  }
  if (verb == Words{"eks", "describe-nodegroup"}) {
    const auto group = node_groups.find(option(argv, "--nodegroup-name"));
    if (group == node_groups.end())
      return refused("ResourceNotFoundException", "DescribeNodegroup", "No node group found");
    return printed(
        {{"nodegroup",
          {{"status", group->second.status},
           {"scalingConfig", {{"desiredSize", group->second.desired}}},
           {"resources", {{"autoScalingGroups", Json::array({{{"name", "asg-" + group->first}}})}}},
           {"health", {{"issues", Json::array()}}}}}});
  }
  if (verb == Words{"eks", "wait"}) {
    if (argv[3] == "cluster-active") cluster_status = "ACTIVE";
    if (argv[3] == "nodegroup-active") node_groups[option(argv, "--nodegroup-name")].status = "ACTIVE";
    if (argv[3] == "cluster-deleted") remove_cluster();
    return {};
  }
  if (verb == Words{"eks", "update-kubeconfig"}) return {};
  if (verb == Words{"cloudformation", "describe-stacks"}) {
    Json list = Json::array();
    for (const auto& [name, status] : stacks)
      list.push_back({{"StackName", name}, {"StackStatus", status}, {"Tags", eksctl_tag()}});
    return printed({{"Stacks", list}});
  }
  if (verb == Words{"cloudformation", "delete-stack"}) {
    const std::string name = option(argv, "--stack-name");
    stacks.erase(name);
    for (const std::string group : {"system", "gpu-workers"}) {
      if (name.ends_with("nodegroup-" + group)) remove_group(group);
    }
    return {};
  }
  if (argv[1] == "cloudformation") return {};
  if (verb == Words{"autoscaling", "put-scheduled-update-group-action"}) {
    schedules.insert(option(argv, "--start-time"));
    return {};
  }
  if (verb == Words{"elbv2", "describe-load-balancers"}) return printed({{"LoadBalancers", Json::array()}});
  if (verb == Words{"logs", "describe-log-groups"}) {
    Json list = Json::array();
    for (const auto& name : log_groups) list.push_back({{"logGroupName", name}});
    return printed({{"logGroups", list}});
  }
  if (verb == Words{"logs", "delete-log-group"}) {
    log_groups.erase(option(argv, "--log-group-name"));
    return {};
  }
  if (verb == Words{"fsx", "describe-file-systems"}) return printed({{"FileSystems", Json::array()}});
  return {.exit_code = 252, .err = fmt::format("the fake knows no aws {} {}\n", verb[0], verb[1])};
}

CommandResult FakeWorld::ec2(const Words& argv) {
  const std::string& verb = argv[2];
  if (verb == "describe-capacity-reservations") {
    Json list = Json::array();
    const std::string id = option(argv, "--capacity-reservation-ids");
    for (const Reservation& one : reservations) {
      if (id.empty() ? !one.is_ours : one.id != id) continue;
      list.push_back({{"CapacityReservationId", one.id},
                      {"State", one.is_active ? "active" : "cancelled"},
                      {"AvailabilityZone", one.zone},
                      {"AvailabilityZoneId", std::string("use2-az") + one.zone.back()},
                      {"InstanceType", one.type},
                      {"TotalInstanceCount", one.total},
                      {"AvailableInstanceCount", one.total - one.used},
                      {"EndDate", one.end}});
    }
    if (!id.empty() && list.empty())
      return refused("InvalidCapacityReservationId.NotFound", "DescribeCapacityReservations", "not found");
    return printed({{"CapacityReservations", list}});
  }
  if (verb == "create-capacity-reservation") {
    const std::string zone = option(argv, "--availability-zone"), type = option(argv, "--instance-type");
    if (!has_room[zone])
      return refused(
          "InsufficientInstanceCapacity", "CreateCapacityReservation",
          fmt::format(
              "We currently do not have sufficient {} capacity in the Availability Zone you requested ({}). "
              "Our system will be working on provisioning additional capacity. You can currently get {} "
              "capacity by not specifying an Availability Zone in your request or choosing us-east-2c.",
              type, zone, type));
    reservations.push_back({.id = fmt::format("cr-{:03x}", next_id_++),
                            .zone = zone,
                            .type = type,
                            .end = option(argv, "--end-date"),
                            .total = std::stoi(option(argv, "--instance-count"))});
    const Reservation& made = reservations.back();
    return printed({{"CapacityReservation",
                     {{"CapacityReservationId", made.id},
                      {"State", "active"},
                      {"AvailabilityZone", zone},
                      {"InstanceType", type},
                      {"TotalInstanceCount", made.total},
                      {"AvailableInstanceCount", made.total}}}});
  }
  if (verb == "cancel-capacity-reservation") {
    for (Reservation& one : reservations) {
      if (one.id == option(argv, "--capacity-reservation-id")) one.is_active = false;
    }
    return printed({{"Return", true}});
  }
  if (verb == "describe-instance-types")
    return printed(
        {{"InstanceTypes", Json::array({{{"VCpuInfo", {{"DefaultVCpus", 48}}},
                                         {"NetworkInfo", {{"EfaInfo", {{"MaximumEfaInterfaces", 1}}}}}}})}});
  if (verb == "describe-availability-zones") {
    Json zones = Json::array();
    for (const char* letter : {"a", "b", "c"})
      zones.push_back({{"ZoneName", std::string("us-east-2") + letter},
                       {"ZoneId", std::string("use2-az") + letter},
                       {"State", "available"},
                       {"ZoneType", "availability-zone"}});
    return printed({{"AvailabilityZones", zones}});
  }
  if (verb == "describe-instance-type-offerings") {
    Json offers = Json::array();
    for (const auto& [zone, room] : has_room) offers.push_back({{"Location", zone}});
    return printed({{"InstanceTypeOfferings", offers}});
  }
  if (verb == "describe-subnets") {
    Json subnets = Json::array();
    for (const auto& [zone, room] : has_room) subnets.push_back({{"AvailabilityZone", zone}});
    return printed({{"Subnets", subnets}});
  }
  if (verb == "describe-instances" && has(argv, "--instance-ids")) {
    Json instances = Json::array();
    for (auto id = std::find(argv.begin(), argv.end(), "--instance-ids") + 1;
         id != argv.end() && !id->starts_with("--"); ++id)
      instances.push_back({{"InstanceId", *id}, {"VpcId", "vpc-1"}});
    return printed({{"Reservations", Json::array({{{"Instances", instances}}})}});
  }
  if (verb == "describe-volumes") {
    Json list = Json::array();
    for (const auto& id : volumes) list.push_back({{"VolumeId", id}, {"Size", 20}, {"State", "available"}});
    return printed({{"Volumes", list}});
  }
  if (verb == "describe-network-interfaces") {
    Json list = Json::array();
    for (const auto& id : interfaces) list.push_back({{"NetworkInterfaceId", id}, {"Status", "available"}});
    return printed({{"NetworkInterfaces", list}});
  }
  if (verb == "delete-volume") volumes.erase(option(argv, "--volume-id"));
  if (verb == "delete-network-interface") interfaces.erase(option(argv, "--network-interface-id"));
  if (verb.starts_with("delete-")) return {};
  if (verb.starts_with("describe-")) return printed(Json::object());
  return {.exit_code = 252, .err = fmt::format("the fake knows no aws ec2 {}\n", verb)};
}

void FakeWorld::make_group(const std::string& name, const Json& group) {
  NodeGroup made{.status = "ACTIVE", .desired = group["desiredCapacity"].get<int64_t>()};
  const Json::json_pointer target("/capacityReservation/capacityReservationTarget/capacityReservationID");
  if (group.contains(target)) made.reservation = group[target];
  for (Reservation& one : reservations) {
    if (one.id == made.reservation && one.is_active) one.used = one.total;
  }
  node_groups[name] = made;
  stacks["eksctl-lockstep-nodegroup-" + name] = "CREATE_COMPLETE";
}

void FakeWorld::remove_group(const std::string& name) {
  const auto group = node_groups.find(name);
  if (group == node_groups.end()) return;
  for (Reservation& one : reservations) {
    if (one.id == group->second.reservation) one.used = 0;
  }
  node_groups.erase(group);
}

void FakeWorld::remove_cluster() {
  while (!node_groups.empty()) remove_group(node_groups.begin()->first);
  if (leaves_things_behind && !cluster_status.empty()) {
    log_groups.insert("/aws/eks/lockstep/cluster");
    interfaces.insert("eni-1");
    volumes.insert("vol-1");
  }
  cluster_status.clear();
  stacks.clear();
  kubernetes.charts.clear();
  kubernetes.objects.clear();
  kubernetes.ray_pods.clear();
}

CommandResult FakeWorld::eksctl(const Command& command) {
  const Words& argv = command.argv;
  if (begins(argv, {"eksctl", "version"})) return {.out = "0.231.0\n"};
  if (has(argv, "--dry-run"))
    return eksctl_drops_reservation ? CommandResult{.out = "kind: ClusterConfig\n"}
                                    : CommandResult{.out = command.input};
  if (begins(argv, {"eksctl", "create", "cluster"})) {
    if (!cluster_status.empty() || !stacks.empty())
      return {.exit_code = 1, .err = "the cluster's stack is there already\n"};
    const Json config = yaml(command.input);
    cluster_status = "ACTIVE";
    stacks["eksctl-lockstep-cluster"] = "CREATE_COMPLETE";
    make_group("system", config["managedNodeGroups"][0]);
    return {};
  }
  if (begins(argv, {"eksctl", "create", "nodegroup"})) {
    const Json group = yaml(command.input)["managedNodeGroups"][0];
    const std::string name = group["name"];
    if (cluster_status != "ACTIVE") return {.exit_code = 1, .err = "no cluster\n"};
    if (stacks.contains("eksctl-lockstep-nodegroup-" + name))
      return {.exit_code = 1, .err = "the stack is there already\n"};
    make_group(name, group);
    return {};
  }
  if (begins(argv, {"eksctl", "delete", "nodegroup"})) {
    remove_group(option(argv, "--name"));
    stacks.erase("eksctl-lockstep-nodegroup-" + option(argv, "--name"));
    return {};
  }
  if (begins(argv, {"eksctl", "delete", "cluster"})) {
    remove_cluster();
    return {};
  }
  if (begins(argv, {"eksctl", "scale", "nodegroup"})) {
    node_groups[option(argv, "--name")].desired = std::stoi(option(argv, "--nodes"));
    return {};
  }
  const bool is_quiet = begins(argv, {"eksctl", "utils"}) || begins(argv, {"eksctl", "create", "addon"}) ||
                        begins(argv, {"eksctl", "create", "iamserviceaccount"}) ||
                        begins(argv, {"eksctl", "delete", "iamserviceaccount"});
  return is_quiet ? CommandResult{} : CommandResult{.exit_code = 1, .err = "the fake knows no such eksctl\n"};
}

CommandResult FakeWorld::kubectl(const Command& command) {
  if (begins(command.argv, {"kubectl", "version"}))
    return {.out = R"({"clientVersion":{"gitVersion":"v1.35.2"}})"};
  if (cluster_status != "ACTIVE") return {.exit_code = 1, .err = "no cluster\n"};
  if (begins(command.argv, {"kubectl", "delete", "persistentvolumeclaims"})) volumes.clear();
  return kubernetes.kubectl(command,
                            node_groups.contains("gpu-workers") ? node_groups["gpu-workers"].desired : 0);
}

int64_t FakeWorld::idle_reservations() const {
  return std::count_if(reservations.begin(), reservations.end(),
                       [](const Reservation& one) { return one.is_ours && one.is_active && one.used == 0; });
}

bool FakeWorld::is_whole() const {
  const auto gpu = node_groups.find("gpu-workers"), system = node_groups.find("system");
  return cluster_status == "ACTIVE" && gpu != node_groups.end() && gpu->second.status == "ACTIVE" &&
         system != node_groups.end() && system->second.status == "ACTIVE" && kubernetes.charts.size() == 3 &&
         kubernetes.objects.contains("RayCluster") && kubernetes.objects.contains("NetworkPolicy");
}

std::vector<std::string> FakeWorld::what_is_left() const {
  std::vector<std::string> left;
  if (!cluster_status.empty()) left.push_back("cluster " + cluster_status);
  for (const auto& [name, status] : stacks) left.push_back(name);
  for (const auto& [name, group] : node_groups) left.push_back(name);
  for (const Reservation& one : reservations) {
    if (one.is_ours && one.is_active) left.push_back(one.id);
  }
  left.insert(left.end(), volumes.begin(), volumes.end());
  left.insert(left.end(), interfaces.begin(), interfaces.end());
  left.insert(left.end(), log_groups.begin(), log_groups.end());
  return left;
}

Surroundings FakeWorld::surroundings() {
  return {.runner = *this,
          .say = [this](const std::string& line) { said.push_back(line); },
          .pause = [this](std::chrono::seconds time) { now_ += time; },
          .now = [this] { return now_; }};
}

}  // namespace lockstep::cluster::eks
