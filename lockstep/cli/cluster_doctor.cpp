// lockstep cluster doctor FILE [key=value...]
#include <iostream>
#include <memory>

#include "lockstep/cli/cluster.h"
#include "lockstep/cluster/doctor/diagnose.h"

namespace lockstep::cli {
namespace {

struct ClusterDoctorArguments : ClusterArguments {
  std::string run;
  bool json = false;
};

int doctor(const ClusterDoctorArguments& arguments) {
  const auto settings = cluster::eks::ClusterSettings::load(arguments.path, arguments.overrides);
  ClusterSession session;
  const auto findings =
      cluster::doctor::diagnose(cluster::doctor::observe(session.surroundings(), settings, arguments.run));
  if (arguments.json) {
    std::cout << to_json(findings).dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  } else {
    std::cout << to_text(findings) << std::flush;
  }
  require_healthy(findings);
  return 0;
}

}  // namespace

void add_cluster_doctor(CLI::App& cluster, Action& action) {
  CLI::App* command =
      cluster.add_subcommand("doctor", "Find what keeps the cluster from training, or slows it");
  auto arguments = std::make_shared<ClusterDoctorArguments>();
  add_cluster_settings(*command, *arguments);
  command
      ->add_option("--run", arguments->run,
                   "A run's folder, as the worker pods see it: NCCL's lines in its logs are read too")
      ->type_name("FOLDER");
  command->add_flag("--json", arguments->json, "Print one JSON document instead of lines");
  command->footer(
      "Asks AWS, Kubernetes and `lockstep doctor node` in every worker pod, changes nothing, and makes 25 "
      "checks. Each says\n"
      "what it saw; a fault also its cause and the fix. A check that could not be made says why.\n\n"
      "Exit code 0 without a fault, 5 when one of the network is among them, 2 when only others are, 8 when "
      "there is none\n"
      "but a check could not be made.\n\n"
      "Examples:\n"
      "  lockstep cluster doctor cluster.yaml\n"
      "  lockstep cluster doctor cluster.yaml --run /fsx/runs/first --json");
  command->callback([=, &action] { action = [=] { return doctor(*arguments); }; });
}

}  // namespace lockstep::cli
