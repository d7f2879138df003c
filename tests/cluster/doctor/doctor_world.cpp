#include "tests/cluster/doctor/doctor_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "lockstep/cluster/eks/kubernetes_object.h"
#include "lockstep/cluster/eks/up.h"
#include "lockstep/cluster/node_checks.h"
#include "tests/paths.h"

namespace lockstep::cluster::doctor {
namespace {

// The chart and the image of the recorded objects.
constexpr const char* kSettings =
    "charts: {kuberay: 1.5.0}\n"
    "image: {reference: "
    "\"registry.example/ray@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n";

Json recorded(const std::string& name) {
  std::ifstream file(test_data("kubernetes/" + name + ".json"));
  return Json::parse(file);
}

const std::map<std::string, std::string> kRecorded = {
    {"kubectl get nodes", "nodes"},
    {"kubectl get daemonsets kube-system", "daemonsets"},
    {"kubectl get pods kube-system", "system_pods"},
    {"kubectl get pods ray-train", "pods"},
    {"kubectl get events ray-train", "events"},
    {"kubectl get rayclusters ray-train", "rayclusters"},
    {"kubectl get customresourcedefinitions", "raycluster_definition"},
    {"kubectl get deployments kuberay-operator", "operators"}};

// "kubectl get pods ray-train" of "kubectl get pods --namespace ray-train --output json".
std::string question_of(const Command& command) {
  std::string question;
  for (size_t i = 0; i < command.argv.size() && i < 3 && !command.argv[i].starts_with("--"); ++i)
    question += (i == 0 ? "" : " ") + command.argv[i];
  const auto space = std::find(command.argv.begin(), command.argv.end(), "--namespace");
  if (command.argv[0] == "kubectl" && space != command.argv.end()) question += " " + *(space + 1);
  return question;
}

Json instance(const std::string& id) {
  const Json groups = Json::array({{{"GroupId", "sg-cluster"}}});
  return {{"InstanceId", id},
          {"NetworkInterfaces", Json::array({{{"InterfaceType", "efa"}, {"Groups", groups}}})}};
}

}  // namespace

eks::ClusterSettings DoctorWorld::settings() {
  return eks::ClusterSettings::parse(kSettings, "cluster.yaml");
}

eks::Surroundings DoctorWorld::surroundings() {
  return {.runner = *this, .say = [](const std::string&) {}, .pause = {}, .now = [this] { return now; }};
}

DoctorWorld::DoctorWorld() {
  eks::Aws cli(aws, settings().region);
  up(look_before(cli, settings(), "2026-01-02"), aws.surroundings());
  now = aws.surroundings().now();
  machine.add_gpus(4);
  machine.add_efa("rdmap0s6");
  machine.shared_memory_bytes = int64_t{8} << 30;
  machine.plant("/proc/self/limits",
                "Max locked memory         unlimited            unlimited            bytes\n");
  machine.node.environment = {{"NCCL_NET_PLUGIN", "ofi"}, {"NCCL_SOCKET_IFNAME", "eth0"}};
  machine.programs["fi_info"] = {0, "provider: efa\n    fabric: efa\n    domain: rdmap0s6-rdm\n"};
  machine.libraries["libnccl.so.2"] = {.path = "/usr/lib/libnccl.so.2", .error = "", .nccl_version = 22907};
  machine.libraries["libnccl-net-ofi.so"] = {.path = "/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so",
                                             .error = "",
                                             .net_apis = {10, 11},
                                             .ofi_version = "1.18.0"};
  network_log =
      "w:1:2 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.2<0>\n"
      "w:1:2 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa-direct (found 1 nics)\n"
      "w:1:2 [0] NCCL INFO Using network Libfabric\n";
  logs["kube-system"] = "Starting FS watcher.\n";
}

void DoctorWorld::plant(const std::string& question, std::function<void(Json&)> change) {
  changes_[question].push_back(std::move(change));
}

Json& DoctorWorld::head(Json& pods) {
  for (Json& pod : pods["items"]) {
    if (eks::ray_role(pod) == "head") return pod;
  }
  throw std::runtime_error("no head is recorded");
}

Json& DoctorWorld::worker(Json& pods, size_t index) {
  for (Json& pod : pods["items"]) {
    if (eks::ray_role(pod) == "worker" && index-- == 0) return pod;
  }
  throw std::runtime_error("not so many workers are recorded");
}

CommandResult DoctorWorld::run(const Command& command) {
  const std::string question = question_of(command);
  if (const auto error = refused_.find(question); error != refused_.end())
    return {.exit_code = command.argv[0] == "aws" ? 254 : 1, .err = error->second};
  if (question.starts_with("kubectl logs")) return {.out = logs[question.substr(question.rfind(' ') + 1)]};
  if (question.starts_with("kubectl exec")) {
    // As Ray 2.58 printed it.
    if (command_line(command).find("ray list jobs") != std::string::npos)
      return {.out =
                  R"([{"type": "SUBMISSION", "job_id": null, "submission_id": "tune-1", "status": "RUNNING",)"
                  R"( "entrypoint": "sleep 60", "message": "Job is currently running."}])"};
    const bool asks_lockstep = command.argv.back().find("lockstep doctor node") != std::string::npos;
    if (!asks_lockstep) return {.out = network_log};
    if (!image_has_lockstep) return {.exit_code = 127, .err = "bash: line 1: exec: lockstep: not found\n"};
    const Json json = report();
    return {.exit_code = json["faults"] == 0 ? 0 : 5, .out = json.dump()};
  }
  Json json = answer(question, command);
  if (json.is_null()) return aws.run(command);
  for (const auto& change : changes_[question]) change(json);
  return {.out = json.dump()};
}

// Null for what the world of `up` answers by itself, and nothing was planted into.
Json DoctorWorld::answer(const std::string& question, const Command& command) {
  if (const auto name = kRecorded.find(question); name != kRecorded.end()) {
    Json json = recorded(name->second);
    // kwok's nodes are of no cloud.
    if (question == "kubectl get nodes") {
      for (Json& node : json["items"])
        node["spec"]["providerID"] = "aws:///us-east-2b/i-" + eks::name_of(node);
    }
    return json;
  }
  if (question.starts_with("kubectl get")) return {{"items", Json::array()}};
  if (question == "aws ec2 describe-instances" &&
      command_line(command).find("nodegroup-name") != std::string::npos)
    return {{"Reservations",
             Json::array({{{"Instances", Json::array({instance("i-gpu-0"), instance("i-gpu-1")})}}})}};
  if (question == "aws ec2 describe-security-groups") {
    const Json self = Json::array(
        {{{"IpProtocol", "-1"}, {"UserIdGroupPairs", Json::array({{{"GroupId", "sg-cluster"}}})}}});
    return {
        {"SecurityGroups",
         Json::array({{{"GroupId", "sg-cluster"}, {"IpPermissions", self}, {"IpPermissionsEgress", self}}})}};
  }
  if (question == "aws ec2 describe-launch-template-versions")
    return {{"LaunchTemplateVersions",
             Json::array({{{"LaunchTemplateData",
                            {{"CapacityReservationSpecification",
                              {{"CapacityReservationTarget",
                                {{"CapacityReservationId", aws.reservations.at(0).id}}}}}}}}})}};
  if (question == "aws ec2 describe-route-tables")
    return {{"RouteTables", Json::array({{{"Associations", Json::array({{{"SubnetId", "subnet-b"}}})},
                                          {"Routes", Json::array({{{"DestinationCidrBlock", "0.0.0.0/0"},
                                                                   {"NatGatewayId", "nat-1"},
                                                                   {"State", "active"}}})}}})}};
  if (question == "aws eks describe-nodegroup") {
    Json json = Json::parse(aws.run(command).out);
    Json& group = json["nodegroup"];
    group["amiType"] = "AL2023_x86_64_NVIDIA";
    group["launchTemplate"] = {{"id", "lt-1"}, {"version", "1"}};
    group["subnets"] = Json::array({"subnet-b"});
    return json;
  }
  if (!changes_.contains(question)) return Json();
  const CommandResult result = aws.run(command);
  return result.exit_code == 0 && !result.out.empty() ? Json::parse(result.out) : Json::object();
}

Json DoctorWorld::report() { return checks_json(check_node(machine.node, std::nullopt)); }

std::vector<Finding> DoctorWorld::diagnose() {
  return doctor::diagnose(observe(surroundings(), settings(), ""));
}

std::vector<std::string> DoctorWorld::ids(const std::vector<Finding>& findings, FindingState state) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings) {
    if (finding.state == state) ids.push_back(finding.id);
  }
  return ids;
}

}  // namespace lockstep::cluster::doctor
