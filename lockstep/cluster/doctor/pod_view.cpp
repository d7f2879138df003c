#include "lockstep/cluster/doctor/pod_view.h"

#include <fmt/format.h>

#include "lockstep/base/split.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"
#include "lockstep/cluster/manifest/ray_cluster.h"

namespace lockstep::cluster::doctor {
namespace {

using eks::name_of;
using eks::part_of;
using eks::ray_role;
using eks::text_of;

// What the network's checks read, of logs that may be long.
constexpr const char* kLines =
    "Using network|Selected provider|NET/Plugin|NET/OFI|NET/Socket|libnccl-net|libcudart|socket interface|"
    "Bootstrap *:|nresponsive receiver|4126|annot allocate memory|Libfabric|No space left on device";

class Inside {
 public:
  Inside(eks::Kubernetes& kubernetes, const eks::Deployment& deployment)
      : kubernetes_(kubernetes), space_(deployment.settings.namespace_name) {}

  // The worker's process has its libcuda in another folder than a command that kubectl starts: the same step
  // goes before it.
  Json report(const std::string& pod) {
    const CommandResult result =
        run(pod, manifest::forward_compatibility_step() + "; exec lockstep doctor node --json");
    const Json answer = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
    if (answer.is_object() && answer.contains("checks")) return answer;
    if (result.exit_code == 127)
      throw CommandError(fmt::format("pod {} has no program lockstep: its image was made without it", pod));
    throw CommandError(fmt::format("pod {}: lockstep doctor node ended with exit code {}: {}", pod,
                                   result.exit_code, words(result)));
  }

  std::vector<std::string> network_log(const std::string& pod, const std::string& run_folder) {
    std::string files = "/tmp/ray/session_latest/logs/worker-*";
    if (!run_folder.empty()) files += " " + quoted(run_folder) + "/logs/*.log";
    // Its exit code is tail's: no line, or no log, is no error.
    const CommandResult result =
        run(pod, fmt::format("grep -hE '{}' {} 2>/dev/null | tail -n 1000", kLines, files));
    if (result.exit_code != 0)
      throw CommandError(fmt::format("pod {}: its logs cannot be read: {}", pod, words(result)));
    return split(result.out, '\n');
  }

 private:
  CommandResult run(const std::string& pod, const std::string& script) {
    return kubernetes_.try_kubectl(
        {"exec", pod, "--namespace", space_, "--container", "ray-worker", "--", "bash", "-c", script},
        std::chrono::minutes(1));
  }
  static std::string words(const CommandResult& result) {
    const std::string said = last_line(result.err.empty() ? result.out : result.err);
    if (said.empty()) return result.timed_out ? "it took too long" : "it said nothing";
    return said;
  }
  static std::string quoted(const std::string& path) { return command_line({.argv = {path}}); }

  eks::Kubernetes& kubernetes_;
  const std::string& space_;
};

bool runs_worker(const Json& pod) {
  if (ray_role(pod) != "worker") return false;
  for (const Json& container : part_of(part_of(pod, "status"), "containerStatuses")) {
    if (text_of(container, "name") == "ray-worker")
      return !part_of(part_of(container, "state"), "running").is_null();
  }
  return false;
}

}  // namespace

std::vector<PodView> look_inside_pods(eks::Kubernetes& kubernetes, const Json& pods,
                                      const eks::Deployment& deployment, const std::string& run_folder) {
  Inside inside(kubernetes, deployment);
  std::vector<PodView> views;
  for (const Json& pod : part_of(pods, "items")) {
    if (!runs_worker(pod)) continue;
    PodView view{.pod = name_of(pod)};
    view.report = ask([&] { return inside.report(view.pod); });
    view.network_log = ask([&] { return inside.network_log(view.pod, run_folder); });
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace lockstep::cluster::doctor
