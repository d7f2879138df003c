// Whether nodes give what they have: GPUs, EFA, disk, huge pages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "lockstep/cluster/doctor/checks.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/daemonset_placement.h"
#include "lockstep/cluster/eks/kubernetes_object.h"

namespace lockstep::cluster::doctor {
namespace {

using eks::condition_message;
using eks::daemonset_of;
using eks::devices_of;
using eks::has_gpu_label;
using eks::is_true;
using eks::label_of;
using eks::name_of;
using eks::number_of;
using eks::part_of;
using eks::text_of;
using eks::why_not_placed;

constexpr const char* kGpuPlugin = "nvidia-device-plugin";
constexpr const char* kEfaPlugin = "aws-efa-k8s-device-plugin";

const Json& nodes(const Observation& seen) { return part_of(seen.cluster.need().nodes.need(), "items"); }

// By its type, whatever its labels say.
bool has_gpus(const Json& node) {
  const eks::InstanceType* type = eks::find_instance_type(label_of(node, "node.kubernetes.io/instance-type"));
  return type ? type->gpus > 0 : has_gpu_label(node);
}

std::vector<Json> gpu_nodes(const Observation& seen) {
  std::vector<Json> found;
  for (const Json& node : nodes(seen)) {
    if (has_gpus(node)) found.push_back(node);
  }
  return found;
}

std::vector<Json> nodes_without(const std::vector<Json>& nodes, const char* resource, int64_t wanted) {
  std::vector<Json> found;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(found),
               [&](const Json& node) { return devices_of(node, resource) < wanted; });
  return found;
}

std::string counts(const std::vector<Json>& nodes, const char* resource) {
  std::vector<std::string> texts;
  for (const Json& node : nodes)
    texts.push_back(fmt::format("{} gives {} {}", name_of(node), devices_of(node, resource), resource));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// "i-0ab" of "aws:///us-east-2b/i-0ab"
std::string instance_of(const Json& node) {
  const std::string provider = text_of(part_of(node, "spec"), "providerID");
  return provider.substr(provider.rfind('/') + 1);
}

// Nothing where EC2 was not asked, or does not know it.
std::optional<int64_t> efa_interfaces_of(const Json& node, const Observation& seen) {
  if (!seen.account.instances.answer) return std::nullopt;
  for (const Instance& instance : *seen.account.instances.answer) {
    if (instance.id == instance_of(node)) return instance.efa_interfaces;
  }
  return std::nullopt;
}

std::string line_with(const std::string& text, const std::string& word) {
  const size_t at = text.find(word);
  if (at == text.npos) return "";
  const size_t begin = at == 0 ? 0 : text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

}  // namespace

Finding check_node_image(const Observation& seen) {
  const std::vector<Json> machines = gpu_nodes(seen);
  if (machines.empty()) return nothing_to_see("no GPU node has joined");
  const std::vector<Json> empty = nodes_without(machines, eks::kGpuResource, seen.deployment.gpu_type().gpus);
  if (empty.empty()) return good(counts(machines, eks::kGpuResource));
  std::string saw = counts(empty, eks::kGpuResource);
  const eks::NodeGroup* group = seen.account.gpu_nodes(seen.deployment);
  const bool is_other_image = group && group->image_type.find("NVIDIA") == std::string::npos;
  if (group) saw += fmt::format("; node image {}", group->image_type);
  const std::string nvml = line_with(seen.cluster.need().gpu_plugin_log.answer.value_or(""), "NVML");
  if (!nvml.empty()) saw += "; its plugin says: " + nvml;
  if (is_other_image)
    return fault(
        saw, "the node's image has no NVIDIA driver",
        "make the node group anew with an image for NVIDIA GPUs (AL2023_x86_64_NVIDIA): `eksctl delete "
        "nodegroup`, then `lockstep cluster up`");
  return fault(saw, "the plugin runs there and reaches no GPU through the driver",
               "`kubectl logs` of the plugin tells more; a node whose driver does not load is best replaced "
               "(`aws ec2 terminate-instances`: its group makes another)");
}

Finding check_gpu_plugin(const Observation& seen) {
  const std::vector<Json> machines = gpu_nodes(seen);
  if (machines.empty()) return nothing_to_see("no GPU node has joined");
  // Whoever gives them: NVIDIA's operator brings a plugin of its own.
  if (nodes_without(machines, eks::kGpuResource, 1).empty()) return good(counts(machines, eks::kGpuResource));
  const Json& set = daemonset_of(seen.cluster.need().daemonsets.need(), kGpuPlugin);
  const std::string fix =
      "`lockstep cluster up` labels the nodes and installs the plugin with values that fit them";
  if (set.is_null())
    return fault(fmt::format("no DaemonSet {} in kube-system", kGpuPlugin), "nothing gives the GPUs to pods",
                 fix);
  const int64_t desired = number_of(part_of(set, "status"), "desiredNumberScheduled");
  const std::string saw =
      fmt::format("{} is wanted on {} of {} GPU nodes", kGpuPlugin, desired, machines.size());
  if (desired >= static_cast<int64_t>(machines.size())) return good(saw);
  std::vector<std::string> reasons;
  for (const Json& node : machines) {
    if (const std::string reason = why_not_placed(set, node); !reason.empty())
      reasons.push_back(fmt::format("{}: {}", name_of(node), reason));
  }
  return fault(saw,
               reasons.empty() ? "its affinity takes none of the nodes' labels (nvidia.com/gpu.present=true)"
                               : fmt::format("{}", fmt::join(reasons, "; ")),
               fix);
}

Finding check_head_node(const Observation& seen) {
  std::vector<std::string> faults;
  std::vector<std::string> others;
  for (const Json& node : nodes(seen)) {
    if (has_gpus(node)) continue;
    others.push_back(name_of(node));
    if (is_true(node, "DiskPressure"))
      faults.push_back(
          fmt::format("{} has DiskPressure: {}", name_of(node), condition_message(node, "DiskPressure")));
  }
  for (const Json& pod : part_of(seen.cluster.need().system_pods.need(), "items")) {
    const std::string node = text_of(part_of(pod, "spec"), "nodeName");
    const bool is_there = std::find(others.begin(), others.end(), node) != others.end();
    if (!is_there || name_of(pod).find(kGpuPlugin) == std::string::npos) continue;
    for (const Json& container : part_of(part_of(pod, "status"), "containerStatuses")) {
      const int64_t restarts = number_of(container, "restartCount");
      if (restarts > 0)
        faults.push_back(fmt::format("{} was started {} times on {}", name_of(pod), restarts + 1, node));
    }
  }
  if (faults.empty()) return good(fmt::format("{} without GPUs: disk enough", fmt::join(others, ", ")));
  return fault(
      fmt::format("{}", fmt::join(faults, "; ")),
      "NVIDIA's plugin without a nodeSelector runs on nodes without GPUs too, ends and is started again, "
      "and its remains fill the disk; or the volume is small. Pods there are evicted, the head among them",
      "remove eksctl's plugin (`kubectl delete daemonset nvidia-device-plugin-daemonset -n kube-system`), "
      "which `lockstep cluster up` does not install; raise system_nodes.volume_gib");
}

Finding check_efa_on_nodes(const Observation& seen) {
  const int64_t wanted = seen.deployment.efa_per_pod();
  if (wanted == 0) return nothing_to_see("network.require is any: no EFA is set up");
  const std::vector<Json> machines = gpu_nodes(seen);
  if (machines.empty()) return nothing_to_see("no GPU node has joined");
  const std::vector<Json> short_of = nodes_without(machines, eks::kEfaResource, wanted);
  if (short_of.empty()) return good(counts(machines, eks::kEfaResource));
  const std::string saw = fmt::format("{}, {} wanted", counts(short_of, eks::kEfaResource), wanted);
  const Json& node = short_of.front();
  const auto interfaces = efa_interfaces_of(node, seen);
  if (interfaces && *interfaces < wanted)
    return fault(
        fmt::format("{}; {} has {} EFA interfaces", saw, instance_of(node), *interfaces),
        "the instance was launched without them",
        "make the node group anew with efaEnabled: `eksctl delete nodegroup`, then `lockstep cluster up`");
  const Json& set = daemonset_of(seen.cluster.need().daemonsets.need(), kEfaPlugin);
  const std::string fix = "`lockstep cluster up` installs it with a toleration and a nodeSelector that fit";
  if (set.is_null()) return fault(saw, fmt::format("no DaemonSet {} in kube-system", kEfaPlugin), fix);
  if (const std::string reason = why_not_placed(set, node); !reason.empty())
    return fault(saw, fmt::format("{} does not run on {}: {}", kEfaPlugin, name_of(node), reason), fix);
  return fault(
      saw,
      fmt::format("{} does not run there, or gives nothing: this version may not know {}, and none runs "
                  "on nodes of EKS Auto Mode",
                  kEfaPlugin, label_of(node, "node.kubernetes.io/instance-type")),
      "take a newer chart (charts.efa_plugin), and node groups in place of Auto Mode");
}

Finding check_huge_pages_of_nodes(const Observation& seen) {
  constexpr const char* kPages = "hugepages-2Mi";
  const std::vector<Json> machines = gpu_nodes(seen);
  std::string asked;
  std::string pod_name;
  for (const Json& pod : part_of(seen.cluster.need().pods.need(), "items")) {
    for (const Json& container : part_of(part_of(pod, "spec"), "containers")) {
      const std::string amount = text_of(part_of(part_of(container, "resources"), "limits"), kPages);
      if (!amount.empty() && amount != "0") asked = amount, pod_name = name_of(pod);
    }
  }
  if (asked.empty()) return good("no pod asks for huge pages");
  std::vector<std::string> without;
  for (const Json& node : machines) {
    const std::string amount = text_of(part_of(part_of(node, "status"), "allocatable"), kPages);
    if (amount.empty() || amount == "0") without.push_back(name_of(node));
  }
  const std::string saw = fmt::format("{} asks for {} of {}", pod_name, asked, kPages);
  if (machines.empty() || without.size() < machines.size()) return good(saw + ", which nodes give");
  return fault(
      fmt::format("{}, and {} give none", saw, fmt::join(without, ", ")),
      "node images set them aside in some releases only",
      "take the request out of the worker's resources, where libfabric does without; or pin the image");
}

}  // namespace lockstep::cluster::doctor
