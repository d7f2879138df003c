// lockstep doctor node, lockstep doctor ray
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/cli/commands.h"
#include "lockstep/cli/ray_options.h"
#include "lockstep/cluster/check_ray.h"
#include "lockstep/cluster/node_checks.h"

namespace lockstep::cli {
namespace {

struct NodeArguments {
  std::string lock;
  bool json = false;
};

int tell(const std::vector<cluster::Check>& checks, bool json) {
  if (json) {
    std::cout << checks_json(checks).dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  } else {
    std::cout << checks_text(checks) << std::endl;
  }
  require_no_fault(checks, "doctor");
  return 0;
}

int doctor_node(const NodeArguments& arguments) {
  std::optional<cluster::ImageLock> lock;
  if (!arguments.lock.empty()) lock = cluster::ImageLock::load(arguments.lock);
  return tell(cluster::check_node(cluster::Node::this_machine(), lock), arguments.json);
}

struct RayArguments {
  std::string address, context, name_space, pods;
  bool json = false;
};

std::vector<cluster::RayPod> pods_of(const RayArguments& arguments) {
  if (arguments.pods.empty()) {
    cluster::ProcessRunner runner;
    return cluster::list_ray_pods(runner, arguments.context, arguments.name_space);
  }
  std::ifstream file(arguments.pods, std::ios::binary);
  if (!file) throw ConfigError(fmt::format("doctor: {}: no file that could be read", arguments.pods));
  return cluster::ray_pods_from({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

int doctor_ray(const RayArguments& arguments) {
  cluster::RayClient client = ray_client(arguments.address);
  const std::string version = client.version();
  const auto nodes = client.nodes();
  return tell({cluster::check_ray_version(version), cluster::check_ray_nodes(nodes),
               cluster::check_gpu_counts(nodes, pods_of(arguments))},
              arguments.json);
}

void add_node(CLI::App& doctor, Action& action) {
  CLI::App* command = doctor.add_subcommand(
      "node", "Check this machine, or the container it runs in: driver, memory limits, network, libraries");
  auto arguments = std::make_shared<NodeArguments>();
  command
      ->add_option("--lock", arguments->lock,
                   "Compare the libraries found with those that the image was locked with")
      ->type_name("FILE");
  command->add_flag("--json", arguments->json, "Print one JSON document instead of lines");
  command->footer(
      "Each check says what it saw and, unless all is well, why that matters and the fix. It changes nothing "
      "and\n"
      "needs no rights. A machine without a GPU or a fast network is not at fault.\n\n"
      "Exit code 0 when nothing is wrong, 5 when the network is, 2 when only something else is.\n\n"
      "Examples:\n"
      "  lockstep doctor node\n"
      "  kubectl exec POD -- lockstep doctor node --json\n"
      "  lockstep doctor node --lock images/ray.lock.yaml");
  command->callback([=, &action] { action = [=] { return doctor_node(*arguments); }; });
}

void add_ray(CLI::App& doctor, Action& action) {
  CLI::App* command = doctor.add_subcommand(
      "ray",
      "Check a Ray cluster on Kubernetes: are the GPUs that Ray counts those that its pods were given?");
  auto arguments = std::make_shared<RayArguments>();
  add_ray_address(*command, arguments->address);
  CLI::Option* name_space =
      command->add_option("--namespace", arguments->name_space, "Of the pods (default: kubectl's)")
          ->type_name("NAME");
  CLI::Option* context =
      command->add_option("--context", arguments->context, "Of kubectl (default: the current one)")
          ->type_name("NAME");
  command
      ->add_option("--pods", arguments->pods,
                   "What `kubectl get pods -o json` printed, where kubectl cannot be asked from here")
      ->type_name("FILE")
      ->excludes(name_space)
      ->excludes(context);
  command->add_flag("--json", arguments->json, "Print one JSON document instead of lines");
  command->footer(
      "Ray places workers by its own count, and waits without end for a GPU that it does not count. Asks "
      "the\n"
      "dashboard and kubectl, and changes nothing.\n\n"
      "Exit code 0 when they agree, 2 when they do not.\n\n"
      "Examples:\n"
      "  lockstep doctor ray --ray-address http://127.0.0.1:8265 --namespace training\n"
      "  lockstep doctor ray --pods pods.json --json");
  command->callback([=, &action] { action = [=] { return doctor_ray(*arguments); }; });
}

}  // namespace

void add_doctor(CLI::App& root, Action& action) {
  CLI::App* doctor =
      root.add_subcommand("doctor", "Find what on a machine or cluster would slow or stop training");
  doctor->require_subcommand(0, 1);
  doctor->footer("`lockstep doctor COMMAND --help` says more.");
  add_node(*doctor, action);
  add_ray(*doctor, action);
}

}  // namespace lockstep::cli
