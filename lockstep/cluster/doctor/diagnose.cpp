#include "lockstep/cluster/doctor/diagnose.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cluster::doctor {
namespace {

Finding look(const CheckEntry& check, const Observation& seen) {
  try {
    if (check.place == LooksAt::kCluster) {
      const std::string& status = seen.account.world.cluster_status;
      if (status.empty())
        return nothing_to_see(
            fmt::format("there is no cluster {} in {}", seen.settings().name, seen.settings().region));
      if (!seen.has_cluster())
        return nothing_to_see(fmt::format("the cluster {} is {}", seen.settings().name, status));
      seen.cluster.need();
    }
    return check.look(seen);
  } catch (const Unanswered& unanswered) {
    return {.state = FindingState::kUnknown, .saw = unanswered.why};
  }
}

void find_causes(std::vector<Finding>& findings) {
  std::vector<std::string> faults;
  for (const Finding& finding : findings) {
    if (finding.state == FindingState::kFault) faults.push_back(finding.id);
  }
  for (Finding& finding : findings) {
    if (finding.state != FindingState::kFault) continue;
    const CheckEntry& check = all_checks()[static_cast<size_t>(finding.number - 1)];
    for (const std::string_view cause : check.follows) {
      if (std::find(faults.begin(), faults.end(), cause) != faults.end())
        finding.follows_from.emplace_back(cause);
    }
    if (!finding.follows_from.empty()) finding.state = FindingState::kFollows;
  }
}

}  // namespace

const std::vector<CheckEntry>& all_checks() {
  using enum LooksAt;
  using enum CheckArea;
  static const std::vector<CheckEntry> checks = {
      {1,
       "gpu-quota",
       kAccount,
       kMachine,
       "EC2 refused nodes for the quota, or it has too few vCPUs for them",
       {},
       check_gpu_quota},
      {2,
       "capacity",
       kAccount,
       kMachine,
       "EC2 had no room for the nodes (InsufficientInstanceCapacity)",
       {"placement-group", "reservation-target"},
       check_capacity},
      {3,
       "placement-group",
       kAccount,
       kMachine,
       "the nodes are to be in a reservation and in a placement group that is not the reservation's",
       {"reservation-target"},
       check_placement_group},
      {4,
       "reservation-target",
       kAccount,
       kMachine,
       "there is a reservation for the nodes, and their launch template does not name it",
       {},
       check_reservation_target},
      {5,
       "nodes-join",
       kAccount,
       kMachine,
       "instances ran and did not join the cluster (NodeCreationFailure)",
       {},
       check_nodes_join},
      {6,
       "node-image",
       kCluster,
       kMachine,
       "NVIDIA's plugin runs on a GPU node and finds no GPU",
       {"gpu-plugin"},
       check_node_image},
      {7,
       "gpu-plugin",
       kCluster,
       kMachine,
       "NVIDIA's plugin is not wanted on a node that has GPUs",
       {},
       check_gpu_plugin},
      {8,
       "head-node",
       kCluster,
       kMachine,
       "a node without GPUs is short of disk, or NVIDIA's plugin restarts there again and again",
       {},
       check_head_node},
      {9,
       "efa-on-nodes",
       kCluster,
       kNetwork,
       "a GPU node gives fewer EFA interfaces than a worker asks for",
       {},
       check_efa_on_nodes},
      {10,
       "efa-in-pods",
       kCluster,
       kNetwork,
       "a worker did not ask for EFA, or cannot open it",
       {"efa-on-nodes"},
       check_efa_in_pods},
      {11,
       "network-in-use",
       kCluster,
       kNetwork,
       "NCCL says that it uses TCP where EFA is required",
       {"efa-in-pods", "network-plugin", "locked-memory", "interfaces"},
       check_network_in_use},
      {12,
       "network-plugin",
       kCluster,
       kNetwork,
       "NCCL's plugin is not found or does not load",
       {},
       check_network_plugin},
      {13,
       "security-group",
       kCluster,
       kNetwork,
       "no security group of the EFA interfaces lets all traffic come from and go to itself",
       {},
       check_security_group},
      {14,
       "locked-memory",
       kCluster,
       kNetwork,
       "a worker may lock too little memory, or libfabric could not get any (-12)",
       {},
       check_locked_memory_of_pods},
      {15,
       "interfaces",
       kCluster,
       kNetwork,
       "NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME names no interface, or NCCL took one of the node's own",
       {},
       check_interfaces},
      {16,
       "driver",
       kCluster,
       kMachine,
       "the driver is missing, or too old for the image's CUDA",
       {"node-image"},
       check_driver_of_pods},
      {17,
       "huge-pages",
       kCluster,
       kMachine,
       "a worker asks for more huge pages than any node gives",
       {},
       check_huge_pages_of_nodes},
      {18,
       "head-reached",
       kCluster,
       kMachine,
       "a worker has waited for the head for minutes (wait-gcs-ready)",
       {"head-node", "readiness-probe", "head-memory"},
       check_head_reached},
      {19,
       "readiness-probe",
       kCluster,
       kMachine,
       "a Ray pod is unready because its probe needs wget",
       {},
       check_readiness_probe},
      {20,
       "head-memory",
       kCluster,
       kMachine,
       "the head was killed for memory, or evicted",
       {"head-node"},
       check_head_memory},
      {21,
       "shared-memory",
       kCluster,
       kMachine,
       "/dev/shm of a worker is small, or no memory is mounted there",
       {},
       check_shared_memory_of_pods},
      {22,
       "job-status",
       kCluster,
       kMachine,
       "a RayJob is called failed while its job runs",
       {},
       check_job_status},
      {23,
       "job-submitter",
       kCluster,
       kMachine,
       "a RayJob's submitter gave up",
       {"head-reached", "readiness-probe", "head-memory", "head-node"},
       check_job_submitter},
      {24,
       "ray-definitions",
       kCluster,
       kMachine,
       "KubeRay's definitions are older than its operator, or do not know a field that is used",
       {},
       check_ray_definitions},
      {25,
       "leftovers",
       kAccount,
       kMachine,
       "something is left of a cluster that is gone, a deletion is stuck, or a reservation bills for no node",
       {},
       check_leftovers},
  };
  return checks;
}

std::vector<Finding> diagnose(const Observation& seen) {
  std::vector<Finding> findings;
  for (const CheckEntry& check : all_checks()) {
    Finding finding = look(check, seen);
    finding.number = check.number;
    finding.id = check.id;
    finding.area = check.area;
    findings.push_back(std::move(finding));
  }
  find_causes(findings);
  return findings;
}

}  // namespace lockstep::cluster::doctor
