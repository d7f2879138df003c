// lockstep cluster status FILE [key=value...]
#include "lockstep/cluster/status/cluster_status.h"

#include <iostream>
#include <memory>

#include "lockstep/cli/cluster.h"

namespace lockstep::cli {
namespace {

struct StatusArguments : ClusterArguments {
  bool json = false;
};

int status(const StatusArguments& arguments) {
  const auto settings = cluster::eks::ClusterSettings::load(arguments.path, arguments.overrides);
  ClusterSession session;
  const auto status = cluster::status::look(session.surroundings(), settings);
  std::cout << (arguments.json ? status.to_json().dump(2) + "\n" : status.to_text()) << std::flush;
  require_healthy(status);
  return 0;
}

}  // namespace

void add_cluster_status(CLI::App& cluster, Action& action) {
  CLI::App* command =
      cluster.add_subcommand("status", "Say what there is, what it costs, and whether it is well");
  auto arguments = std::make_shared<StatusArguments>();
  add_cluster_settings(*command, *arguments);
  command->add_flag("--json", arguments->json, "Print one JSON document instead of lines");
  command->footer(
      "Asks AWS, Kubernetes and Ray, and changes nothing. `lockstep cluster doctor` looks for causes.\n\n"
      "Exit code 0 when all is as asked for, 8 when it is not, or could not be asked.\n\n"
      "Examples:\n"
      "  lockstep cluster status cluster.yaml\n"
      "  lockstep cluster status cluster.yaml --json");
  command->callback([=, &action] { action = [=] { return status(*arguments); }; });
}

}  // namespace lockstep::cli
