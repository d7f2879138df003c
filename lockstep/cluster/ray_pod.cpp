#include "lockstep/cluster/ray_pod.h"

#include <fmt/format.h>

#include <charconv>

#include "lockstep/base/error.h"

namespace lockstep::cluster {
namespace {

constexpr const char* kClusterLabel = "ray.io/cluster";  // KubeRay puts it on every pod of a RayCluster
constexpr std::chrono::seconds kTimeout{20};             // credentials may come from yet another program

// Whole devices are asked for, so the quantity is a plain number.
double quantity(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw CommandError(fmt::format("kubectl: \"{}\" is no number of GPUs", text));
  return value;
}

double gpus_of(const Json& container) {
  double gpus = 0;
  const Json limits = container.value("resources", Json::object()).value("limits", Json::object());
  for (const auto& [resource, amount] : limits.items()) {
    if (resource.ends_with("gpu")) gpus += quantity(amount.get<std::string>());
  }
  return gpus;
}

RayPod pod_from(const Json& json) {
  RayPod pod;
  pod.name = json.at("metadata").at("name").get<std::string>();
  pod.node = json.at("spec").at("nodeName").get<std::string>();
  pod.cluster = json.at("metadata").at("labels").at(kClusterLabel).get<std::string>();
  pod.ip = json.at("status").at("podIP").get<std::string>();
  for (const Json& container : json.at("spec").at("containers")) pod.gpus += gpus_of(container);
  return pod;
}

}  // namespace

std::string RayPod::label() const { return fmt::format("{} (pod {})", node, name); }

std::vector<RayPod> ray_pods_from(const std::string& list) {
  try {
    const Json answer = Json::parse(list);
    std::vector<RayPod> pods;
    for (const Json& json : answer.at("items")) {
      const bool is_of_ray = json.at("metadata").value("labels", Json::object()).contains(kClusterLabel);
      if (is_of_ray && json.at("status").at("phase") == "Running") pods.push_back(pod_from(json));
    }
    return pods;
  } catch (const Json::exception& error) {
    throw CommandError(fmt::format("kubectl: what it printed is no list of pods: {}", error.what()));
  }
}

std::vector<RayPod> list_ray_pods(CommandRunner& runner, const std::string& context,
                                  const std::string& name_space) {
  Command command{.argv = {"kubectl", "get", "pods", "--selector", kClusterLabel, "--output", "json"},
                  .timeout = kTimeout};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) command.argv.insert(command.argv.end(), {option, value});
  };
  add("--context", context);
  add("--namespace", name_space);
  return ray_pods_from(run_or_throw(runner, command));
}

}  // namespace lockstep::cluster
