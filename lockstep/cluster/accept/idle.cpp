#include "lockstep/cluster/accept/idle.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"

namespace lockstep::cluster::accept {
namespace {

using eks::text_of;

[[noreturn]] void refuse(const std::string& what, const std::string& id, const std::string& status) {
  throw ConfigError(
      fmt::format("cluster: {} {} is {}: all of Ray's pods would be replaced under it. Wait for it, or stop "
                  "it (`lockstep cluster status` lists all)",
                  what, id, status));
}

bool is_going_on(const std::string& status) { return status == "RUNNING" || status == "PENDING"; }

std::string ready_head(eks::Kubernetes& kubernetes, const eks::ClusterSettings& settings) {
  const Json pods =
      eks::list_pods(kubernetes, settings.namespace_name,
                     fmt::format("ray.io/cluster={},ray.io/node-type=head", settings.ray_cluster));
  for (const Json& pod : eks::part_of(pods, "items")) {
    if (eks::is_true(pod, "Ready") && !eks::is_leaving(pod)) return eks::name_of(pod);
  }
  return "";
}

}  // namespace

void require_idle(eks::Kubernetes& kubernetes, const eks::Deployment& deployment) {
  const std::string& space = deployment.settings.namespace_name;
  const Json ray_jobs = eks::list_ray_jobs(kubernetes, space);
  for (const Json& job : eks::part_of(ray_jobs, "items")) {
    const Json& status = eks::part_of(job, "status");
    const std::string deployed = text_of(status, "jobDeploymentStatus");
    if (is_going_on(text_of(status, "jobStatus")) || deployed == "Initializing" || deployed == "Running")
      refuse("RayJob", eks::name_of(job), deployed.empty() ? text_of(status, "jobStatus") : deployed);
  }
  const std::string head = ready_head(kubernetes, deployment.settings);
  if (head.empty()) return;
  for (const Json& job : eks::list_jobs_of_ray(kubernetes, space, head)) {
    const std::string id = text_of(job, "submission_id");
    if (is_going_on(text_of(job, "status")))
      refuse("job", id.empty() ? text_of(job, "job_id") : id, text_of(job, "status"));
  }
}

}  // namespace lockstep::cluster::accept
