// lockstep cluster exec FILE -- COMMAND...
#include <memory>

#include "lockstep/cli/cluster.h"
#include "lockstep/cluster/eks/pod_access.h"

namespace lockstep::cli {
namespace {

struct ExecArguments : ClusterArguments {
  cluster::eks::ExecRequest request;
};

int exec(const ExecArguments& arguments) {
  ClusterAccess access(arguments);
  cluster::eks::ExecRequest request = arguments.request;
  request.takes_input = request.takes_input || request.has_terminal;
  return access.kubernetes().kubectl_in_terminal(
      exec_command(access.kubernetes(), access.deployment(), request));
}

}  // namespace

void add_cluster_exec(CLI::App& cluster, Action& action) {
  CLI::App* command = cluster.add_subcommand("exec", "Run a command in the head or a worker pod");
  auto arguments = std::make_shared<ExecArguments>();
  add_cluster_file(*command, *arguments);
  cluster::eks::ExecRequest& request = arguments->request;
  command->add_option("COMMAND", request.command, "The command, after --")->required()->type_name("");
  // Not bare words, as elsewhere: those are the command's. (CLI11 ends a command's list of words at --, and
  // does not tell where that stood.)
  command->add_option("--set", arguments->overrides, "A setting that takes the place of the file's")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);  // one after each: else it would take -- for the end of its list
  command->add_option("--in", request.who, "head, worker-0, worker-1, or a pod's name")
      ->type_name("WHO")
      ->capture_default_str();
  command->add_flag("--stdin,-i", request.takes_input, "Give it this command's input");
  command->add_flag("--tty,-t", request.has_terminal, "Give it this terminal, for a shell");
  command->footer(
      "The command's exit code is this one's; 2 where there is no such pod, 8 when the cluster cannot be "
      "reached.\n\n"
      "Examples:\n"
      "  lockstep cluster exec cluster.yaml -- ray status\n"
      "  lockstep cluster exec cluster.yaml --in worker-0 -t -- bash");
  command->callback([=, &action] { action = [=] { return exec(*arguments); }; });
}

}  // namespace lockstep::cli
