#include "lockstep/cluster/eks/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "lockstep/base/io_error.h"
#include "lockstep/cluster/eks/settings_rules.h"

namespace lockstep::cluster::eks {
namespace {

std::string zones_text(const Deployment& deployment) {
  return fmt::format(
      "{}{}", fmt::join(deployment.gpu_zones, ", "),
      deployment.zones_are_assumed ? " (assumed: nobody was asked which zones offer the type)" : "");
}

std::string summary(const Deployment& deployment) {
  const ClusterSettings& settings = deployment.settings;
  const InstanceType& gpu = deployment.gpu_type();
  std::string text = fmt::format("cluster {} in {}, Kubernetes {}{}\n", settings.name, settings.region,
                                 settings.kubernetes_version, settings.existing ? ", there already" : "");
  const std::string system_nodes =
      settings.existing ? "nodes that are there"
                        : fmt::format("{} x {}", settings.system_nodes.count, settings.system_nodes.type);
  text += fmt::format("  {} for the system and Ray's head: {} CPUs, {} GiB\n", system_nodes,
                      settings.head.cpus, settings.head.memory_gib);
  text += fmt::format("  {} x {} in {}: a worker pod each, {} x {} {} GiB, {} EFA, {} CPUs, {} GiB\n",
                      settings.gpu_nodes.count, settings.gpu_nodes.type, zones_text(deployment), gpu.gpus,
                      gpu.gpu_name, gpu.gpu_gib, deployment.efa_per_pod(), settings.worker.cpus.value(),
                      settings.worker.memory_gib.value());
  text += fmt::format("  image {}\n", settings.image.reference);
  return text;
}

constexpr const char* kKubeconfig = "KUBECONFIG";  // stands for a path that `up` takes

std::string what_exists(const Step& step, const Preflight& preflight) {
  const World& world = preflight.world;
  const std::string& group_name = preflight.deployment.settings.gpu_nodes.name;
  const auto group = world.node_groups.find(group_name);
  const bool has_nodes = group != world.node_groups.end() && group->second.status == "ACTIVE";
  switch (step.makes) {
    case Step::Makes::kReservation:
      if (has_nodes) return "the nodes";
      return world.reservations.empty() ? "" : world.reservations.front().id;
    case Step::Makes::kCluster:
      return world.cluster_status == "ACTIVE" ? preflight.deployment.settings.name : "";
    case Step::Makes::kGpuNodes:
      return has_nodes ? group_name : "";
    case Step::Makes::kOther:
      break;
  }
  return "";
}

}  // namespace

std::string Plan::to_text() const {
  std::string text = summary(deployment);
  text += checks
              ? "\npreflight:\n" + checks_text(*checks) + "\n"
              : "\nno preflight: neither credentials, quotas and capacity nor what exists were looked at\n";
  text += "\nsteps:\n";
  int number = 0;
  for (const auto& [step, exists] : steps) {
    text += fmt::format("  {:>2}. {}: {}\n      {}\n", ++number, step.what,
                        exists.empty() ? step.why : "there already: " + exists, step.to_text());
  }
  text += "\nprice:\n" + price.to_text();
  text += "\nfiles (--out FOLDER writes them):";
  for (const auto& file : files) text += " " + file.name;
  text += "\n";
  for (const std::string& note : notes) text += "note: " + note + "\n";
  return text;
}

Json Plan::to_json() const {
  Json step_list = Json::array();
  for (const auto& [step, exists] : steps)
    step_list.push_back({{"what", step.what},
                         {"why", step.why},
                         {"exists", exists.empty() ? Json() : Json(exists)},
                         {"command", step.to_text()}});
  Json file_texts = Json::object();
  for (const auto& file : files) file_texts[file.name] = file.to_text();
  return {{"version", 1},
          {"settings", deployment.settings.effective()},
          {"zones",
           {{"cluster", deployment.cluster_zones},
            {"gpu_nodes", deployment.gpu_zones},
            {"assumed", deployment.zones_are_assumed}}},
          {"preflight", checks ? checks_json(*checks) : Json()},
          {"steps", step_list},
          {"price", price.to_json()},
          {"notes", notes},
          {"files", file_texts}};
}

void Plan::write_files(const std::string& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw_io_error("make", folder, error.value());
  for (const auto& file : files) {
    const std::string path = folder + "/" + file.name;
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    stream << file.to_text();
    stream.close();
    if (!stream) throw_io_error("write", path, errno);
  }
}

Plan plan_without_preflight(const ClusterSettings& settings) {
  Plan plan{.deployment = assumed_deployment(settings)};
  for (Step& step : all_steps(plan.deployment, kKubeconfig)) plan.steps.push_back({std::move(step), ""});
  plan.price = price_of(plan.deployment);
  plan.notes = notes_on(settings);
  plan.files = all_files(plan.deployment);
  return plan;
}

Plan plan_after(const Preflight& preflight) {
  Plan plan{.deployment = preflight.deployment, .checks = preflight.checks};
  for (Step& step : all_steps(plan.deployment, kKubeconfig)) {
    std::string exists = what_exists(step, preflight);
    plan.steps.push_back({std::move(step), std::move(exists)});
  }
  plan.price = price_of(plan.deployment, preflight.extended_support);
  plan.notes = notes_on(plan.deployment.settings);
  plan.files = all_files(plan.deployment);
  return plan;
}

}  // namespace lockstep::cluster::eks
