#include "lockstep/cluster/eks/kubernetes.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::cluster::eks {

void run_step(CommandRunner& runner, const Step& step) {
  Command command = step.command;
  if (step.input_command) command.input = run_or_throw(runner, *step.input_command);
  run_or_throw(runner, command);
}

Kubernetes::Kubernetes(CommandRunner& runner, const Deployment& deployment)
    : runner_(runner), kubeconfig_(folder_ / "kubeconfig") {
  run_step(runner_, fetch_kubeconfig(deployment, kubeconfig_));
}

void Kubernetes::run(const Step& step) { run_step(runner_, step); }

int Kubernetes::kubectl_in_terminal(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "kubectl");
  const Command command{
      .argv = std::move(arguments), .env = {{"KUBECONFIG", kubeconfig_}}, .in_terminal = true, .input = ""};
  return runner_.run(command).exit_code;
}

Json Kubernetes::get(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "get");
  arguments.insert(arguments.end(), {"--output", "json"});
  const std::string out = kubectl(arguments);
  Json answer = Json::parse(out, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object())
    throw CommandError(fmt::format("kubectl get {}: its answer is no JSON", arguments.at(1)));
  return answer;
}

std::string Kubernetes::kubectl(std::vector<std::string> arguments, const std::string& input,
                                std::chrono::milliseconds timeout) {
  arguments.insert(arguments.begin(), "kubectl");
  return run_or_throw(runner_, {.argv = std::move(arguments),
                                .env = {{"KUBECONFIG", kubeconfig_}},
                                .input = input,
                                .timeout = timeout});
}

CommandResult Kubernetes::try_kubectl(std::vector<std::string> arguments, std::chrono::milliseconds timeout,
                                      const std::string& input,
                                      std::function<void(std::string_view)> on_out) {
  arguments.insert(arguments.begin(), "kubectl");
  return runner_.run({.argv = std::move(arguments),
                      .env = {{"KUBECONFIG", kubeconfig_}},
                      .input = input,
                      .timeout = timeout,
                      .on_out = std::move(on_out)});
}

}  // namespace lockstep::cluster::eks
