// lockstep doctor node
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/cli/commands.h"
#include "lockstep/cluster/node_checks.h"

namespace lockstep::cli {
namespace {

struct NodeArguments {
  std::string lock;
  bool json = false;
};

int doctor_node(const NodeArguments& arguments) {
  std::optional<cluster::ImageLock> lock;
  if (!arguments.lock.empty()) lock = cluster::ImageLock::load(arguments.lock);
  const auto checks = cluster::check_node(cluster::Node::this_machine(), lock);
  if (arguments.json) {
    std::cout << checks_json(checks).dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  } else {
    std::cout << checks_text(checks) << std::endl;
  }
  require_no_fault(checks, "doctor");
  return 0;
}

}  // namespace

void add_doctor(CLI::App& root, Action& action) {
  CLI::App* doctor = root.add_subcommand("doctor", "Find what on this machine would slow or stop training");
  doctor->require_subcommand(0, 1);
  doctor->footer("`lockstep doctor COMMAND --help` says more.");

  CLI::App* command = doctor->add_subcommand(
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

}  // namespace lockstep::cli
