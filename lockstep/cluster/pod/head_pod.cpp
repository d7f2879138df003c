#include "lockstep/cluster/pod/head_pod.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/base/split.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"

namespace lockstep::cluster::pod {
namespace {

constexpr const char* kContainer = "ray-head";
// kubectl's words when it was the program that failed, and not the way to it
// (kubernetes/kubernetes, staging/src/k8s.io/client-go/tools/remotecommand/v4.go).
constexpr std::string_view kTheProgramsOwn = "command terminated with exit code";

// Without kubectl's line at the end.
std::string programs_own(const std::string& err) {
  const size_t at = err.rfind(kTheProgramsOwn);
  return at == err.npos ? err : err.substr(0, at);
}

}  // namespace

std::string Ran::words() const {
  if (!lost.empty()) return lost;
  const std::string said = last_line(err);
  return said.empty() ? fmt::format("exit code {}", exit_code) : said;
}

HeadPod::HeadPod(eks::Kubernetes& kubernetes, const eks::Deployment& deployment)
    : kubernetes_(kubernetes), deployment_(deployment) {}

bool HeadPod::find() {
  const eks::ClusterSettings& settings = deployment_.settings;
  const Json pods =
      eks::list_pods(kubernetes_, settings.namespace_name,
                     fmt::format("ray.io/cluster={},ray.io/node-type=head", settings.ray_cluster));
  for (const Json& pod : eks::part_of(pods, "items")) {
    if (!eks::is_leaving(pod) && eks::text_of(eks::part_of(pod, "status"), "phase") == "Running")
      name_ = eks::name_of(pod);
  }
  return !name_.empty();
}

Ran HeadPod::run(const std::vector<std::string>& argv, const RunOptions& options) {
  try {
    if (name_.empty() && !find()) return {.lost = "no head pod of Ray's is running"};
  } catch (const CommandError& error) {
    return {.lost = error.what()};
  }
  std::vector<std::string> words = {
      "exec", name_, "--namespace", deployment_.settings.namespace_name, "--container", kContainer};
  if (!options.input.empty()) words.emplace_back("--stdin");
  words.emplace_back("--");
  words.insert(words.end(), argv.begin(), argv.end());
  const CommandResult result = kubernetes_.try_kubectl(words, options.timeout, options.input, options.on_out);
  Ran ran{.exit_code = result.exit_code, .out = result.out, .err = programs_own(result.err)};
  if (result.timed_out)
    ran.lost = fmt::format("no end within {} s", options.timeout.count() / 1000);
  else if (result.exit_code != 0 && result.err.find(kTheProgramsOwn) == std::string::npos)
    ran.lost = fmt::format("kubectl exec {}: {}", name_, last_line(result.err));
  if (!ran.lost.empty()) name_.clear();
  return ran;
}

Ran HeadPod::run_python(const std::string& program, const std::vector<std::string>& arguments,
                        const RunOptions& options) {
  std::vector<std::string> argv = {"python", "-c", program};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run(argv, options);
}

std::string HeadPod::command_line(const std::vector<std::string>& argv) const {
  Command command{.argv = {"kubectl", "exec", name_, "--namespace", deployment_.settings.namespace_name,
                           "--container", kContainer, "--"}};
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  return cluster::command_line(command);
}

}  // namespace lockstep::cluster::pod
