// lockstep cluster down FILE [key=value...]
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>

#include "lockstep/base/error.h"
#include "lockstep/cli/cluster.h"
#include "lockstep/cluster/eks/down.h"

namespace lockstep::cli {
namespace {

struct DownArguments : ClusterArguments {
  bool yes = false, json = false;
};

void print(const cluster::eks::LeftoverSearch& search, bool json) {
  if (json) {
    const Json result = {{"version", 1},
                         {"kinds_asked_for", search.num_kinds},
                         {"not_asked", search.not_asked},
                         {"left", cluster::eks::to_json(search.found)}};
    std::cout << result.dump(2) << '\n';
    return;
  }
  std::cout << (search.found.empty() ? "nothing is left" : "left:\n" + cluster::eks::to_text(search.found));
  std::cout << fmt::format(" ({} kinds asked for)\n", search.num_kinds);
}

int down(const DownArguments& arguments) {
  const auto settings = cluster::eks::ClusterSettings::load(arguments.path, arguments.overrides);
  if (!arguments.yes)
    throw ConfigError(fmt::format("cluster down: nothing was removed: --yes removes {}{} in {}",
                                  settings.existing ? "the GPU nodes of " : "", settings.name,
                                  settings.region));
  ClusterSession session;
  const auto search = cluster::eks::down(settings, session.surroundings());
  print(search, arguments.json);
  if (!search.not_asked.empty())
    throw CommandError(
        fmt::format("cluster: these could not be asked for, so what is left of them is not known: {}",
                    fmt::join(search.not_asked, "; ")));
  if (!search.found.empty())
    throw CommandError(
        fmt::format("cluster: {} things are left, which bill or hold data", search.found.size()));
  return 0;
}

}  // namespace

void add_cluster_down(CLI::App& cluster, Action& action) {
  CLI::App* command = cluster.add_subcommand("down", "Remove the cluster, and prove that nothing is left");
  auto arguments = std::make_shared<DownArguments>();
  add_cluster_settings(*command, *arguments);
  command->add_flag("--yes", arguments->yes, "Remove it; without it nothing is removed");
  command->add_flag("--json", arguments->json, "Print what is left as one JSON document");
  command->footer(
      "Removes Ray's jobs and clusters, volumes and load balancers, the nodes and the cluster, the "
      "reservations, and what "
      "is\nleft behind by these, whole or half made. Then asks AWS for every kind again. File systems and "
      "buckets stay: they "
      "hold\ndata. With existing: true only the GPU nodes and what is in the namespace goes.\n\n"
      "Exit code 0 when nothing is left, 8 when something is or could not be removed.\n\n"
      "Example:\n"
      "  lockstep cluster down cluster.yaml --yes");
  command->callback([=, &action] { action = [=] { return down(*arguments); }; });
}

}  // namespace lockstep::cli
