#include "lockstep/cluster/status/cluster_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"
#include "lockstep/cluster/eks/readiness.h"
#include "lockstep/cluster/eks/version_support.h"

namespace lockstep::cluster::status {
namespace {

using eks::daemonset_of;
using eks::devices_of;
using eks::is_true;
using eks::label_of;
using eks::name_of;
using eks::number_of;
using eks::part_of;
using eks::ray_role;
using eks::text_of;
using eks::why_not_running;

const Json& items(const Json& list) { return part_of(list, "items"); }

// "v0.20.0" of the first container's image; "" where it is named by digest.
std::string version_of(const Json& workload) {
  const Json& pod = part_of(part_of(part_of(workload, "spec"), "template"), "spec");
  const Json& containers = part_of(pod, "containers");
  if (containers.empty()) return "";
  return eks::tag_of(text_of(containers.front(), "image"));
}

int64_t restarts_of(const Json& pod) {
  int64_t restarts = 0;
  for (const Json& container : part_of(part_of(pod, "status"), "containerStatuses"))
    restarts += number_of(container, "restartCount");
  return restarts;
}

NodeRow node_row(const Json& node) {
  return {.name = name_of(node),
          .type = label_of(node, "node.kubernetes.io/instance-type"),
          .zone = label_of(node, "topology.kubernetes.io/zone"),
          .gpus = devices_of(node, eks::kGpuResource),
          .efa = devices_of(node, eks::kEfaResource),
          .is_ready = is_true(node, "Ready")};
}

RayRow ray_row(const Json& cluster) {
  const Json& status = part_of(cluster, "status");
  return {.name = name_of(cluster),
          .state = text_of(status, "state"),
          .ready_workers = number_of(status, "readyWorkerReplicas"),
          .wanted_workers = number_of(status, "desiredWorkerReplicas"),
          .gpus = text_of(status, "desiredGPU")};
}

PodRow pod_row(const Json& pod) {
  const std::string phase = text_of(part_of(pod, "status"), "phase");
  const bool runs = phase == "Running" && is_true(pod, "Ready");
  return {.name = name_of(pod),
          .role = ray_role(pod),
          .node = text_of(part_of(pod, "spec"), "nodeName"),
          .phase = phase,
          .why = runs ? "" : why_not_running(pod),
          .restarts = restarts_of(pod)};
}

class Looker {
 public:
  Looker(const eks::Surroundings& surroundings, const eks::ClusterSettings& settings)
      : surroundings_(surroundings),
        settings_(settings),
        deployment_(eks::assumed_deployment(settings)),
        aws_(surroundings.runner, settings.region),
        status_{.name = settings.name,
                .region = settings.region,
                .name_space = settings.namespace_name,
                .world = look_at_world(aws_, settings)} {}

  ClusterStatus look() {
    price();
    const std::string& cluster = status_.world.cluster_status;
    if (cluster.empty()) trouble("there is no cluster");
    if (!cluster.empty() && cluster != "ACTIVE") trouble("the cluster is " + cluster);
    node_groups();
    if (cluster == "ACTIVE") ask("the cluster", [&] { inside(); });
    return std::move(status_);
  }

 private:
  void trouble(const std::string& what) { status_.troubles.push_back(what); }
  void add(const eks::Readiness& readiness) {
    for (const auto* list : {&readiness.broken, &readiness.missing})
      status_.troubles.insert(status_.troubles.end(), list->begin(), list->end());
  }

  void ask(const std::string& what, const std::function<void()>& question) {
    try {
      question();
    } catch (const CommandError& error) {
      status_.not_told.push_back(fmt::format("{}: {}", what, error.what()));
    }
  }

  int64_t nodes_of(const std::string& group) const {
    const auto found = status_.world.node_groups.find(group);
    return found == status_.world.node_groups.end() ? 0 : found->second.desired;
  }

  // Of what is there: a reservation bills whether nodes are in it or not.
  void price() {
    int64_t reserved = 0;
    for (const eks::Reservation& one : status_.world.reservations) {
      if (one.type == settings_.gpu_nodes.type) reserved += one.total;
    }
    eks::Deployment there = deployment_;
    there.settings.gpu_nodes.count = std::max(reserved, nodes_of(settings_.gpu_nodes.name));
    there.settings.system_nodes.count = nodes_of(settings_.system_nodes.name);
    if (status_.world.cluster_status.empty()) {
      status_.price = eks::price_of_gpu_nodes(there);
      return;
    }
    bool is_extended = false;
    ask("the end of Kubernetes' support", [&] {
      const std::string today = format_utc(surroundings_.now()).substr(0, std::string("2026-01-02").size());
      is_extended = version_support(aws_, today)[status_.world.cluster_version].is_extended;
    });
    status_.price = price_of(there, is_extended);
  }

  void node_groups() {
    if (status_.world.cluster_status.empty()) return;
    if (!status_.world.node_groups.contains(settings_.gpu_nodes.name))
      trouble(fmt::format("there is no node group {}", settings_.gpu_nodes.name));
    for (const auto& [name, group] : status_.world.node_groups) {
      if (group.status != "ACTIVE") trouble(fmt::format("node group {} is {}", name, group.status));
      for (const std::string& issue : group.issues) trouble(fmt::format("node group {}: {}", name, issue));
    }
  }

  void inside() {
    eks::Kubernetes kubernetes(surroundings_.runner, deployment_);
    const Json nodes = list_nodes(kubernetes), daemonsets = list_daemonsets(kubernetes),
               pods = list_pods(kubernetes, settings_.namespace_name);
    for (const Json& node : items(nodes)) status_.nodes.push_back(node_row(node));
    for (const char* plugin : {"nvidia-device-plugin", "aws-efa-k8s-device-plugin"}) {
      const Json& set = daemonset_of(daemonsets, plugin);
      if (set.is_null()) continue;
      const Json& counts = part_of(set, "status");
      status_.parts.push_back({plugin, version_of(set), number_of(counts, "numberReady"),
                               number_of(counts, "desiredNumberScheduled")});
    }
    std::string head;
    for (const Json& pod : items(pods)) {
      if (ray_role(pod).empty()) continue;
      status_.pods.push_back(pod_row(pod));
      const bool is_ours = label_of(pod, "ray.io/cluster") == settings_.ray_cluster;
      if (is_ours && ray_role(pod) == "head" && is_true(pod, "Ready")) head = name_of(pod);
    }
    add(readiness_of_nodes(nodes, daemonsets, deployment_));
    ask("the operator", [&] { operators(kubernetes); });
    ask("Ray's clusters", [&] { ray_clusters(kubernetes); });
    add(readiness_of_pods(pods, deployment_));
    ask("RayJobs", [&] { ray_jobs(kubernetes); });
    if (!head.empty()) ask("Ray's jobs", [&] { jobs(kubernetes, head); });
  }

  void operators(eks::Kubernetes& kubernetes) {
    const Json list = list_operators(kubernetes);
    if (items(list).empty()) trouble("KubeRay's operator is not there");
    for (const Json& one : items(list)) {
      const PartRow row{name_of(one), version_of(one), number_of(part_of(one, "status"), "readyReplicas"),
                        number_of(part_of(one, "spec"), "replicas")};
      if (row.ready < row.wanted) trouble(fmt::format("{}: {} of {} ready", row.name, row.ready, row.wanted));
      status_.parts.push_back(row);
    }
  }

  void ray_clusters(eks::Kubernetes& kubernetes) {
    const Json list = list_ray_clusters(kubernetes, settings_.namespace_name);
    for (const Json& cluster : items(list)) {
      const RayRow row = ray_row(cluster);
      if (row.state != "ready")
        trouble(fmt::format("RayCluster {} is {}{}", row.name, row.state.empty() ? "not ready" : row.state,
                            warning_of(kubernetes, row.name)));
      status_.ray_clusters.push_back(row);
    }
    if (items(list).empty()) trouble(fmt::format("there is no RayCluster in {}", settings_.namespace_name));
  }

  // What KubeRay last complained of: it refuses a RayCluster, or cannot make its pods, by an event alone.
  std::string warning_of(eks::Kubernetes& kubernetes, const std::string& cluster) {
    std::string message;
    const Json events = list_events(kubernetes, settings_.namespace_name);
    for (const Json& event : items(events)) {
      const Json& about = part_of(event, "involvedObject");
      if (text_of(event, "type") == "Warning" && text_of(about, "kind") == "RayCluster" &&
          text_of(about, "name") == cluster)
        message = ": " + text_of(event, "message");
    }
    return message;
  }

  void ray_jobs(eks::Kubernetes& kubernetes) {
    const Json list = list_ray_jobs(kubernetes, settings_.namespace_name);
    for (const Json& job : items(list)) {
      const Json& state = part_of(job, "status");
      const std::string word = text_of(state, "jobStatus");
      status_.jobs.push_back({name_of(job), word.empty() ? text_of(state, "jobDeploymentStatus") : word,
                              fmt::format("RayJob: {}", text_of(part_of(job, "spec"), "entrypoint"))});
    }
  }

  void jobs(eks::Kubernetes& kubernetes, const std::string& head) {
    const Json list = list_jobs_of_ray(kubernetes, settings_.namespace_name, head);
    for (const Json& job : list) {
      const std::string submission = text_of(job, "submission_id");
      status_.jobs.push_back({submission.empty() ? text_of(job, "job_id") : submission,
                              text_of(job, "status"), text_of(job, "entrypoint")});
    }
  }

  const eks::Surroundings& surroundings_;
  const eks::ClusterSettings& settings_;
  eks::Deployment deployment_;
  eks::Aws aws_;
  ClusterStatus status_;
};

}  // namespace

ClusterStatus look(const eks::Surroundings& surroundings, const eks::ClusterSettings& settings) {
  return Looker(surroundings, settings).look();
}

void require_healthy(const ClusterStatus& status) {
  if (status.is_healthy()) return;
  std::vector<std::string> reasons = status.troubles;
  reasons.insert(reasons.end(), status.not_told.begin(), status.not_told.end());
  throw CommandError(
      fmt::format("cluster status: {} is not healthy: {}{}", status.name, reasons.front(),
                  reasons.size() > 1 ? fmt::format(" (and {} more)", reasons.size() - 1) : ""));
}

}  // namespace lockstep::cluster::status
