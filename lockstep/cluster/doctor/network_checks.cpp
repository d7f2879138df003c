// Whether training goes over EFA: what pods were given, what loads there, what NCCL says, who lets it
// through.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/cluster/doctor/checks.h"
#include "lockstep/cluster/doctor/worker_evidence.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"

namespace lockstep::cluster::doctor {
namespace {

using eks::name_of;
using eks::part_of;
using eks::ray_role;

bool uses_efa(const Observation& seen) { return seen.deployment.efa_per_pod() > 0; }

Finding no_efa() { return nothing_to_see("network.require is any: no EFA is set up"); }

// A worker whose containers ask for no EFA; "" where there is none.
std::string worker_without_efa(const Observation& seen) {
  for (const Json& pod : part_of(seen.cluster.need().pods.need(), "items")) {
    if (ray_role(pod) != "worker") continue;
    const Json& containers = part_of(part_of(pod, "spec"), "containers");
    const bool asks = std::any_of(containers.begin(), containers.end(), [](const Json& container) {
      return part_of(part_of(container, "resources"), "limits").contains(eks::kEfaResource);
    });
    if (!asks) return name_of(pod);
  }
  return "";
}

}  // namespace

Finding check_efa_in_pods(const Observation& seen) {
  if (!uses_efa(seen)) return no_efa();
  if (const std::string pod = worker_without_efa(seen); !pod.empty())
    return fault(
        fmt::format("{} has no limit of {}", pod, eks::kEfaResource),
        "without it the pod gets no device, and fi_info finds no provider (-61)",
        "ask for it in the worker's resources, as `lockstep cluster plan --out` writes them; never mount "
        "/dev/infiniband");
  return from_reports(
      seen, {"/dev/infiniband", "efa provider"},
      {{"/dev/infiniband", "the pod was given EFA, and its container has no device",
        "`kubectl describe pod` and the log of EFA's plugin on its node; a container made anew asks for "
        "its devices again (`kubectl delete pod`)"}});
}

Finding check_network_in_use(const Observation& seen) {
  if (!uses_efa(seen)) return no_efa();
  if (seen.workers.empty()) return nothing_to_see("no worker pod runs");
  if (const auto line = find_line(seen, "Using network Socket|via NET/Socket"))
    return fault(
        line->before.empty() ? to_text(*line)
                             : fmt::format("{}; before it: {}", to_text(*line), line->before),
        "NCCL's plugin gave up and NCCL went on over TCP, some times slower",
        "the lines before it in that log say why; network.require: efa in the recipe keeps a run from "
        "starting like that (`lockstep transport check`)");
  if (const auto line = find_line(seen, "Selected provider is efa|Using network (AWS )?Libfabric"))
    return good(to_text(*line));
  for (const PodView& worker : seen.workers) worker.network_log.need();
  return nothing_to_see(
      "no line of NCCL's in the workers' logs: nothing has trained there yet, or its logs are in "
      "a run's folder (--run)");
}

Finding check_network_plugin(const Observation& seen) {
  if (!uses_efa(seen)) return no_efa();
  if (const auto line = find_line(seen,
                                  "Could not find.*libnccl-net|libcudart.*cannot open|"
                                  "libnccl-net.*cannot open|NET/Plugin.*[Ff]ailed to load"))
    return fault(
        to_text(*line), "a library is not where the loader looks",
        "put its folder on LD_LIBRARY_PATH (/opt/amazon/ofi-nccl/lib, /opt/amazon/efa/lib, CUDA's lib64), "
        "and NCCL_NET_PLUGIN must be its name between libnccl-net- and .so: ofi");
  return from_reports(seen, {"plugin"},
                      {{"plugin", "without it NCCL cannot reach EFA, and goes over TCP",
                        "NCCL_NET_PLUGIN=ofi in the worker's environment, and an image that has aws-ofi-nccl "
                        "(/opt/amazon/ofi-nccl/lib on LD_LIBRARY_PATH)"}});
}

Finding check_security_group(const Observation& seen) {
  if (!uses_efa(seen)) return no_efa();
  const std::vector<Instance>& instances = seen.account.instances.need();
  if (instances.empty()) return nothing_to_see("EC2 has no instance of the GPU nodes");
  const auto& groups = seen.account.security_groups.need();
  std::vector<std::string> texts;
  for (const SecurityGroup& group : groups) {
    const bool is_of_all = std::all_of(instances.begin(), instances.end(), [&](const Instance& instance) {
      const auto& own = instance.security_groups;
      return std::find(own.begin(), own.end(), group.id) != own.end();
    });
    if (is_of_all && group.all_from_itself && group.all_to_itself)
      return good(
          fmt::format("{} lets all traffic from and to itself, and all GPU nodes are in it", group.id));
    texts.push_back(
        fmt::format("{}{}: {} from itself, {} to itself", group.id, is_of_all ? "" : " (not on all nodes)",
                    group.all_from_itself ? "all" : "not all", group.all_to_itself ? "all" : "not all"));
  }
  std::string saw = fmt::format("{}", fmt::join(texts, "; "));
  if (const auto line = find_line(seen, "nresponsive receiver|4126")) saw += "; " + to_text(*line);
  return fault(
      saw,
      "EFA's own traffic is passed only by a rule that names the group itself; 0.0.0.0/0 does not do. "
      "Sending then hangs, or ends with error 4126 (unresponsive receiver)",
      fmt::format("aws ec2 authorize-security-group-egress --group-id {0} --protocol -1 --source-group {0} "
                  "(and authorize-security-group-ingress alike)",
                  groups.empty() ? "GROUP" : groups.front().id));
}

Finding check_locked_memory_of_pods(const Observation& seen) {
  if (!uses_efa(seen)) return no_efa();
  if (const auto line = find_line(seen, "annot allocate memory|[Ll]ibfabric.*-12"))
    return fault(
        to_text(*line), "the worker may lock too little memory for EFA",
        "add the capability IPC_LOCK to the worker's container, as `lockstep cluster plan --out` does");
  return from_reports(seen, {"locked memory"});
}

Finding check_interfaces(const Observation& seen) {
  if (const auto line = find_line(seen, "[Nn]o socket interface found"))
    return fault(to_text(*line), "NCCL_SOCKET_IFNAME names no interface of the pod",
                 "NCCL_SOCKET_IFNAME=eth0 in the worker's environment");
  if (const auto line = find_line(seen, "(Bootstrap *:|NET/Socket *:) *Using.*pod-id-link"))
    return fault(
        to_text(*line),
        "NCCL took the interface of EKS' pod identity, by which no other pod is reached: a list of what to "
        "leave out (^lo,docker,veth) lets it in",
        "NCCL_SOCKET_IFNAME=eth0 in the worker's environment");
  return from_reports(seen, {"nccl interface", "gloo interface"});
}

}  // namespace lockstep::cluster::doctor
