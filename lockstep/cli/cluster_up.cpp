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
  bool yes = false, json = false;
};

// What `plan --json` prints, and how it went. `why_not`: why it is not ready; empty: it is.
void print(const cluster::eks::Plan& plan, const std::string& why_not) {
  Json result = plan.to_json();
  const cluster::eks::ClusterSettings& settings = plan.deployment.settings;
  result["ready"] = why_not.empty();
  result["why_not"] = why_not.empty() ? Json() : Json(why_not);
  result["gpus"] = settings.gpu_nodes.count * plan.deployment.gpu_type().gpus;
  std::cout << result.dump(2) << std::endl;
}

void make(const cluster::eks::Preflight& preflight, const cluster::eks::Plan& plan, bool yes,
          const ClusterSession& session) {
  cluster::require_no_fault(preflight.checks, "cluster");
  if (!yes)
    throw ConfigError(fmt::format(
        "cluster up: nothing was made, since it would bill {:.4f} dollars an hour: --yes makes it",
        plan.price.dollars_per_hour()));
  cluster::eks::up(preflight, session.surroundings());
}

int up(const UpArguments& arguments) {
  const auto settings = cluster::eks::ClusterSettings::load(arguments.path, arguments.overrides);
  ClusterSession session;
  const auto preflight = look_before(settings, session);
  const auto plan = cluster::eks::plan_after(preflight);
  if (!arguments.json) std::cout << plan.to_text() << std::flush;
  try {
    make(preflight, plan, arguments.yes, session);
  } catch (const Error& error) {
    if (arguments.json) print(plan, error.what());
    throw;
  }
  if (arguments.json) print(plan, "");
  return 0;
}

}  // namespace

void add_cluster_up(CLI::App& cluster, Action& action) {
  CLI::App* command = cluster.add_subcommand("up", "Make the cluster, or what is missing of it");
  auto arguments = std::make_shared<UpArguments>();
  add_cluster_settings(*command, *arguments);
  command->add_flag("--yes", arguments->yes, "Make what the plan says; without it nothing is made");
  command->add_flag("--json", arguments->json,
                    "Print one JSON document at the end instead of text; progress goes to standard error");
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
