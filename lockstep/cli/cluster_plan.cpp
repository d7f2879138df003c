// lockstep cluster plan FILE [key=value...]
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "lockstep/base/error.h"
#include "lockstep/cli/cluster.h"
#include "lockstep/cluster/eks/plan.h"
#include "lockstep/cluster/manifest/review.h"

namespace lockstep::cli {
namespace {

struct PlanArguments : ClusterArguments {
  std::string out;
  bool no_preflight = false, json = false;
};

// A Ray manifest in the place of settings is looked at for what its schema does not tell.
int review(const std::string& path, const Json& document) {
  const auto faults = cluster::manifest::faults_in(document);
  if (!faults.empty())
    throw ConfigError(fmt::format("{}: {}{}", path, faults.front(),
                                  faults.size() > 1 ? fmt::format(" (and {} more)", faults.size() - 1) : ""));
  std::cout << path << ": no fault found in this " << document.at("kind").get<std::string>() << "\n";
  return 0;
}

bool is_yaml(const std::string& path) { return !path.ends_with(".sh") && !path.ends_with(".env"); }

cluster::eks::Plan look_and_plan(const cluster::eks::ClusterSettings& settings) {
  ClusterSession session;
  return plan_after(look_before(settings, session));
}

int plan(const PlanArguments& arguments) {
  if (is_yaml(arguments.path)) {
    const Json document = cluster::manifest::load_manifest(arguments.path);
    if (cluster::manifest::is_manifest(document)) return review(arguments.path, document);
  }
  const auto settings = cluster::eks::ClusterSettings::load(arguments.path, arguments.overrides);
  const auto plan =
      arguments.no_preflight ? cluster::eks::plan_without_preflight(settings) : look_and_plan(settings);
  if (!arguments.out.empty()) plan.write_files(arguments.out);
  std::cout << (arguments.json ? plan.to_json().dump(2) + "\n" : plan.to_text()) << std::flush;
  if (plan.checks) cluster::require_no_fault(*plan.checks, "cluster");
  return 0;
}

}  // namespace

void add_cluster_plan(CLI::App& cluster, Action& action) {
  CLI::App* command = cluster.add_subcommand("plan", "Say what would be made, in which order, and its price");
  auto arguments = std::make_shared<PlanArguments>();
  add_cluster_settings(*command, *arguments);
  command
      ->add_option("--out", arguments->out, "Write the generated files here, to apply them by your own means")
      ->type_name("FOLDER");
  command->add_flag("--no-preflight", arguments->no_preflight, "Ask nobody: neither AWS nor the registry");
  command->add_flag("--json", arguments->json, "Print one JSON document instead of text");
  command->footer(
      "Nothing is made, and nothing bills. Exit code 2 when something stands in the way. Given a Ray "
      "manifest (RayCluster, RayJob) instead of settings, "
      "says what is "
      "wrong\nwith it although its schema takes it.\n\n"
      "Examples:\n"
      "  lockstep cluster plan cluster.yaml\n"
      "  lockstep cluster plan cluster.yaml gpu_nodes.type=p5.48xlarge --out manifests\n"
      "  lockstep cluster plan env.sh --json");
  command->callback([=, &action] { action = [=] { return plan(*arguments); }; });
}

}  // namespace lockstep::cli
