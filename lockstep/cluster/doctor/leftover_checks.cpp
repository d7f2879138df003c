// Whether what is to be gone is gone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/cluster/doctor/checks.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"

namespace lockstep::cluster::doctor {
namespace {

using eks::name_of;
using eks::part_of;
using eks::text_of;

constexpr std::chrono::minutes kLongDeletion{10};

std::vector<std::string> stuck_stacks(const eks::World& world) {
  std::vector<std::string> stuck;
  for (const auto& [name, status] : world.stacks) {
    if (status == "DELETE_FAILED") stuck.push_back(fmt::format("stack {} is DELETE_FAILED", name));
  }
  return stuck;
}

// Objects that wait for a finalizer, or for a node that does not answer.
std::vector<std::string> stuck_objects(const Observation& seen) {
  std::vector<std::string> stuck;
  const ClusterView& view = seen.cluster.need();
  for (const Json* list :
       {&view.ray_clusters.need(), &view.ray_jobs.need(), &view.pods.need(), &view.volume_claims.need()}) {
    for (const Json& object : part_of(*list, "items")) {
      const Json& metadata = part_of(object, "metadata");
      const std::string since = text_of(metadata, "deletionTimestamp");
      if (!seen.is_older(since, kLongDeletion)) continue;
      const Json& finalizers = part_of(metadata, "finalizers");
      stuck.push_back(fmt::format("{} {} is being deleted since {}{}", text_of(object, "kind"),
                                  name_of(object), since,
                                  finalizers.empty() ? "" : ", finalizers " + finalizers.dump()));
    }
  }
  return stuck;
}

}  // namespace

Finding check_leftovers(const Observation& seen) {
  const eks::World& world = seen.account.world;
  const std::string fix =
      "`lockstep cluster down FILE --yes` removes what is left and asks again; a network interface or "
      "security "
      "group that is in use keeps its VPC: the message of the stack names it";
  if (const auto stuck = stuck_stacks(world); !stuck.empty())
    return fault(fmt::format("{}", fmt::join(stuck, "; ")),
                 "something that the stack did not make is in its VPC", fix);
  if (!seen.account.gpu_nodes(seen.deployment)) {
    for (const eks::Reservation& one : world.reservations) {
      if (one.available == one.total)
        return fault(fmt::format("{} of {} x {} is {} until {}, and there are no GPU nodes", one.id,
                                 one.total, one.type, one.state, one.end),
                     "it bills as if they ran", fix);
    }
  }
  if (world.cluster_status.empty()) {
    const eks::LeftoverSearch& search = seen.account.leftovers.need();
    if (!search.found.empty()) {
      std::vector<std::string> texts;
      for (const eks::Leftover& one : search.found) texts.push_back(fmt::format("{} {}", one.kind, one.id));
      return fault(fmt::format("the cluster is gone, and left {}", fmt::join(texts, ", ")),
                   "what Kubernetes made by itself is in no stack", fix);
    }
    if (!search.not_asked.empty()) throw Unanswered{fmt::format("{}", fmt::join(search.not_asked, "; "))};
    return good(fmt::format("nothing is left ({} kinds asked for)", search.num_kinds));
  }
  if (!seen.has_cluster())
    return world.cluster_status == "DELETING" ? good("the cluster is DELETING")
                                              : nothing_to_see("no cluster is active");
  if (const auto stuck = stuck_objects(seen); !stuck.empty())
    return fault(
        fmt::format("{}", fmt::join(stuck, "; ")),
        "who was to take the finalizer away, or the pod's node, is gone",
        "bring KubeRay's operator back (`lockstep cluster up`), which ends it; `kubectl delete pod --force` "
        "for a pod whose node is gone");
  return good("no deletion is stuck");
}

}  // namespace lockstep::cluster::doctor
