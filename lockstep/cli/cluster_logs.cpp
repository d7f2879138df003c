// lockstep cluster logs FILE [key=value...]
#include <fmt/format.h>

#include <memory>

#include "lockstep/base/error.h"
#include "lockstep/cli/cluster.h"
#include "lockstep/cluster/eks/pod_access.h"

namespace lockstep::cli {
namespace {

struct LogsArguments : ClusterArguments {
  cluster::eks::LogRequest request;
};

int logs(const LogsArguments& arguments) {
  ClusterAccess access(arguments);
  const int code = access.kubernetes().kubectl_in_terminal(
      logs_command(access.kubernetes(), access.deployment(), arguments.request));
  if (code != 0) throw CommandError(fmt::format("cluster logs: kubectl ended with exit code {}", code));
  return 0;
}

}  // namespace

void add_cluster_logs(CLI::App& cluster, Action& action) {
  CLI::App* command = cluster.add_subcommand("logs", "Print the log of a pod, the operator, or a run's rank");
  auto arguments = std::make_shared<LogsArguments>();
  add_cluster_settings(*command, *arguments);
  cluster::eks::LogRequest& request = arguments->request;
  command->add_option("--of", request.who, "head, worker-0, worker-1, a pod's name, or operator")
      ->type_name("WHO")
      ->capture_default_str();
  CLI::Option* rank = command->add_option("--rank", request.rank, "A rank's newest log in the run's folder")
                          ->type_name("N")
                          ->check(CLI::NonNegativeNumber);
  CLI::Option* run = command->add_option("--run", request.run_folder, "The run's folder, as the pod sees it")
                         ->type_name("FOLDER")
                         ->needs(rank);
  rank->needs(run);
  command->add_option("--since", request.since, "Only of the last 10m, 2h or so")
      ->type_name("TIME")
      ->excludes(rank);
  command->add_flag("--follow,-f", request.follow, "Go on with what is written from now on");
  command->footer(
      "Exit code 8 when kubectl fails: its words come before.\n\n"
      "Examples:\n"
      "  lockstep cluster logs cluster.yaml --of worker-1 --since 10m\n"
      "  lockstep cluster logs cluster.yaml --run /fsx/runs/first --rank 3 --follow\n"
      "  lockstep cluster logs cluster.yaml --of operator");
  command->callback([=, &action] { action = [=] { return logs(*arguments); }; });
}

}  // namespace lockstep::cli
