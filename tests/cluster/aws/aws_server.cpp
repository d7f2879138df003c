#include "tests/cluster/aws/aws_server.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "lockstep/base/check.h"
#include "lockstep/base/json.h"
#include "lockstep/base/split.h"
#include "tests/paths.h"

namespace lockstep::cluster::eks {
namespace {

const std::string kBin = LOCKSTEP_AWS_BIN;
const std::string kRole = "arn:aws:iam::123456789012:role/node";
const std::string kTemplate = R"({"Resources":{"Topic":{"Type":"AWS::SNS::Topic"}}})";

}  // namespace

bool AwsServer::is_installed() { return std::filesystem::exists(kBin + "/aws"); }

AwsServer::AwsServer(const std::vector<std::string>& zones_with_room) {
  ProcessOptions options;
  options.argv = {kBin + "/python", source_path("tests/cluster/aws/aws_server.py")};
  options.argv.insert(options.argv.end(), zones_with_room.begin(), zones_with_room.end());
  options.environment["PYTHONDONTWRITEBYTECODE"] = "1";
  options.standard_output = Output::file(folder_ / "output");
  process_ = std::make_unique<Process>(Process::start(options));
  std::string text;
  while (text.find('\n') == text.npos) {
    LOCKSTEP_CHECK(!process_->poll()) << "aws_server.py ended at once";
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::ifstream file(folder_ / "output");
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  endpoint_ = "http://127.0.0.1:" + trimmed(text.substr(std::string("port ").size()));
  const Json subnets = Json::parse(aws({"ec2", "describe-subnets"}))["Subnets"];
  for (const Json& subnet : subnets)
    subnets_ += (subnets_.empty() ? "" : ",") + subnet["SubnetId"].get<std::string>();
}

std::string AwsServer::aws(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "aws");
  arguments.insert(arguments.end(), {"--region", "us-east-2", "--output", "json"});
  return run_or_throw(*this, {.argv = arguments});
}

CommandResult AwsServer::run(const Command& command) {
  if (command.argv[0] != "aws") {
    const auto groups_before = world.node_groups;
    const std::string cluster_before = world.cluster_status;
    CommandResult result = world.run(command);
    if (cluster_before.empty() && !world.cluster_status.empty()) make_cluster();
    if (!cluster_before.empty() && world.cluster_status.empty()) remove_cluster();
    for (const auto& [name, group] : world.node_groups) {
      if (!groups_before.contains(name)) make_group(name);
    }
    return result;
  }
  Command here = command;
  here.argv[0] = kBin + "/aws";
  here.timeout = std::chrono::minutes(5);
  here.env.merge(environment());
  return runner_.run(here);
}

std::map<std::string, std::string> AwsServer::environment() const {
  return {{"AWS_ENDPOINT_URL", endpoint_},
          {"AWS_ACCESS_KEY_ID", "key"},
          {"AWS_SECRET_ACCESS_KEY", "secret"},
          {"AWS_CONFIG_FILE", "/dev/null"},
          {"AWS_SHARED_CREDENTIALS_FILE", "/dev/null"},
          {"AWS_EC2_METADATA_DISABLED", "true"},
          {"AWS_MAX_ATTEMPTS", "2"}};
}

void AwsServer::make_stack(const std::string& name) {
  aws({"cloudformation", "create-stack", "--stack-name", name, "--template-body", kTemplate, "--tags",
       "Key=alpha.eksctl.io/cluster-name,Value=lockstep"});
}

void AwsServer::make_cluster() {
  make_stack("eksctl-lockstep-cluster");
  aws({"eks", "create-cluster", "--name", "lockstep", "--role-arn", kRole, "--resources-vpc-config",
       "subnetIds=" + subnets_, "--kubernetes-version", "1.36"});
}

void AwsServer::make_group(const std::string& name) {
  make_stack("eksctl-lockstep-nodegroup-" + name);
  aws({"eks", "create-nodegroup", "--cluster-name", "lockstep", "--nodegroup-name", name, "--node-role",
       kRole, "--subnets", subnets_.substr(0, subnets_.find(',')), "--scaling-config",
       "minSize=0,maxSize=2,desiredSize=2"});
}

// With the volumes, interfaces and logs that eksctl passes over.
void AwsServer::remove_cluster() {
  aws({"ec2", "create-volume", "--availability-zone", "us-east-2b", "--size", "20", "--tag-specifications",
       "ResourceType=volume,Tags=[{Key=kubernetes.io/cluster/lockstep,Value=owned}]"});
  aws({"ec2", "create-network-interface", "--subnet-id", subnets_.substr(0, subnets_.find(',')),
       "--tag-specifications",
       "ResourceType=network-interface,Tags=[{Key=cluster.k8s.amazonaws.com/name,Value=lockstep}]"});
  aws({"logs", "create-log-group", "--log-group-name", "/aws/eks/lockstep/cluster"});
  const Json groups =
      Json::parse(aws({"eks", "list-nodegroups", "--cluster-name", "lockstep"}))["nodegroups"];
  for (const Json& name : groups)
    aws({"eks", "delete-nodegroup", "--cluster-name", "lockstep", "--nodegroup-name",
         name.get<std::string>()});
  aws({"eks", "delete-cluster", "--name", "lockstep"});
}

}  // namespace lockstep::cluster::eks
