// kubectl and helm, on the deployment's cluster.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/base/temporary_folder.h"
#include "lockstep/cluster/command_runner.h"
#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/eks/step.h"

namespace lockstep::cluster::eks {

class Kubernetes {
 public:
  // Fetches access to the cluster, into a file that goes with this object. Throws CommandError.
  Kubernetes(CommandRunner& runner, const Deployment& deployment);

  const std::string& kubeconfig() const { return kubeconfig_; }
  // Runs a step whole: its input command first. Throws CommandError.
  void run(const Step& step);
  // `kubectl` in this terminal, as long as it takes. Returns its exit code.
  int kubectl_in_terminal(std::vector<std::string> arguments);
  // `kubectl` with these arguments and `--output json`; throws CommandError when it fails or tells no JSON.
  Json get(std::vector<std::string> arguments);
  // Standard output of `kubectl` with these arguments; throws CommandError.
  std::string kubectl(std::vector<std::string> arguments, const std::string& input = "",
                      std::chrono::milliseconds timeout = std::chrono::minutes(3));
  // The same whose failure is an answer: a program in a pod has its own exit codes. `on_out`: as of Command.
  CommandResult try_kubectl(std::vector<std::string> arguments,
                            std::chrono::milliseconds timeout = std::chrono::minutes(3),
                            const std::string& input = "", std::function<void(std::string_view)> on_out = {});

 private:
  CommandRunner& runner_;
  TemporaryFolder folder_;
  std::string kubeconfig_;
};

// Runs a step that needs no access to the cluster.
void run_step(CommandRunner& runner, const Step& step);

}  // namespace lockstep::cluster::eks
