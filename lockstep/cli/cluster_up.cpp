// lockstep cluster up FILE [key=value...]
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "lockstep/base/error.h"
#include "lockstep/cli/cluster.h"
#include "lockstep/cluster/eks/plan.h"
#include "lockstep/cluster/eks/up.h"

namespace lockstep::cli {
namespace {

struct UpArguments : ClusterArguments {
  bool yes = false;
};

int up(const UpArguments& arguments) {
  const auto settings = cluster::eks::ClusterSettings::load(arguments.path, arguments.overrides);
  ClusterSession session;
  cluster::eks::Aws aws(session.surroundings().runner, settings.region);
  const auto preflight = cluster::eks::look_before(aws, settings, today());
  const auto plan = cluster::eks::plan_after(preflight);
  std::cout << plan.to_text() << std::flush;
  cluster::require_no_fault(preflight.checks, "cluster");
  if (!arguments.yes)
    throw ConfigError(fmt::format(
        "cluster up: nothing was made, since it would bill {:.4f} dollars an hour: --yes makes it",
        plan.price.dollars_per_hour()));
  cluster::eks::up(preflight, session.surroundings());
  return 0;
}

}  // namespace

void add_cluster_up(CLI::App& cluster, Action& action) {
  CLI::App* command = cluster.add_subcommand("up", "Make the cluster, or what is missing of it");
  auto arguments = std::make_shared<UpArguments>();
  add_cluster_settings(*command, *arguments);
  command->add_flag("--yes", arguments->yes, "Make what the plan says; without it nothing is made");
  command->footer(
      "Prints the plan, then does it: looks at what is there, makes the rest, and waits until GPUs, EFA and "
      "Ray are seen "
      "to\nbe as asked for. After a failure or Ctrl-C the same command goes on; a reservation that no node "
      "took is "
      "cancelled.\n\n"
      "Exit code 2 when something stands in the way before anything is made, or without --yes; 8 when a "
      "program failed.\n\n"
      "Example:\n"
      "  lockstep cluster up cluster.yaml --yes");
  command->callback([=, &action] { action = [=] { return up(*arguments); }; });
}

}  // namespace lockstep::cli
