#include "lockstep/cluster/eks/pod_access.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"

namespace lockstep::cluster::eks {
namespace {

// The newest generation's: names are g001-rank-003.log and so on. The folder and the rank are the script's
// own arguments, never its text.
constexpr const char* kRankLog =
    "files=(\"$1\"/logs/g*-rank-$2.log); file=${files[-1]}; "
    "[ -e \"$file\" ] || { echo \"no log of rank $2 in $1/logs as this pod sees it\" >&2; exit 1; }; "
    "exec tail -n +1 $3 -- \"$file\"";

}  // namespace

RayPodName find_ray_pod(Kubernetes& kubernetes, const Deployment& deployment, const std::string& who) {
  const ClusterSettings& settings = deployment.settings;
  const Json pods = list_pods(kubernetes, settings.namespace_name, "ray.io/cluster=" + settings.ray_cluster);
  std::vector<std::string> heads, workers;
  for (const Json& pod : part_of(pods, "items"))
    (ray_role(pod) == "head" ? heads : workers).push_back(name_of(pod));
  std::sort(workers.begin(), workers.end());
  std::vector<std::string> known;
  for (const std::string& head : heads) {
    if (who == "head" || who == head) return {head, "ray-head"};
    known.push_back("head (" + head + ")");
  }
  for (size_t i = 0; i < workers.size(); ++i) {
    const std::string place = fmt::format("worker-{}", i);
    if (who == place || who == workers[i]) return {workers[i], "ray-worker"};
    known.push_back(fmt::format("{} ({})", place, workers[i]));
  }
  throw ConfigError(fmt::format("cluster: no pod {} in RayCluster {}: there is {}", who, settings.ray_cluster,
                                known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

std::vector<std::string> logs_command(Kubernetes& kubernetes, const Deployment& deployment,
                                      const LogRequest& request) {
  const std::string& space = deployment.settings.namespace_name;
  if (request.rank) {
    const RayPodName pod = find_ray_pod(kubernetes, deployment, request.who);
    return {"exec",
            pod.pod,
            "--namespace",
            space,
            "--container",
            pod.container,
            "--",
            "bash",
            "-c",
            kRankLog,
            "rank-log",
            request.run_folder,
            fmt::format("{:03d}", *request.rank),
            request.follow ? "-F" : "-q"};
  }
  std::vector<std::string> words;
  if (request.who == "operator") {
    words = {"logs", "deployment/kuberay-operator", "--namespace", kOperatorNamespace};
  } else {
    const RayPodName pod = find_ray_pod(kubernetes, deployment, request.who);
    words = {"logs", pod.pod, "--namespace", space, "--container", pod.container};
  }
  if (!request.since.empty()) words.insert(words.end(), {"--since", request.since});
  if (request.follow) words.push_back("--follow");
  return words;
}

std::vector<std::string> exec_command(Kubernetes& kubernetes, const Deployment& deployment,
                                      const ExecRequest& request) {
  const RayPodName pod = find_ray_pod(kubernetes, deployment, request.who);
  std::vector<std::string> words = {
      "exec", pod.pod, "--namespace", deployment.settings.namespace_name, "--container", pod.container};
  if (request.takes_input) words.push_back("--stdin");
  if (request.has_terminal) words.push_back("--tty");
  words.push_back("--");
  words.insert(words.end(), request.command.begin(), request.command.end());
  return words;
}

}  // namespace lockstep::cluster::eks
