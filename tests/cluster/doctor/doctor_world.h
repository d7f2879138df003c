// A whole cluster in which all is well, and into which a test plants a fault: AWS of eks/fake_world.h after
// `up`, Kubernetes' objects as a real one printed them (tests/data/kubernetes: Kubernetes 1.34,
// KubeRay 1.5.0, the RayCluster that `cluster plan` generates, nodes simulated by kwok), and a worker's
// report from the checks of `lockstep doctor node` over a made-up machine.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lockstep/cluster/doctor/diagnose.h"
#include "tests/cluster/eks/fake_world.h"
#include "tests/cluster/made_up_node.h"

namespace lockstep::cluster::doctor {

class DoctorWorld : public CommandRunner {
 public:
  DoctorWorld();
  CommandResult run(const Command& command) override;

  // Changes what a question is answered with: "aws eks describe-nodegroup", "kubectl get pods ray-train"
  // (with the namespace where one is named).
  void plant(const std::string& question, std::function<void(Json& answer)> change);
  // The question is refused with this on standard error.
  void refuse(const std::string& question, const std::string& error) { refused_[question] = error; }

  // Of the recorded list of pods.
  static Json& head(Json& pods);
  static Json& worker(Json& pods, size_t index = 0);

  static eks::ClusterSettings settings();
  eks::Surroundings surroundings();
  std::vector<Finding> diagnose();
  // Ids of those in a state.
  static std::vector<std::string> ids(const std::vector<Finding>& findings, FindingState state);

  eks::FakeWorld aws;
  MadeUpNode machine;                       // what every worker's container is
  bool image_has_lockstep = true;           // else the worker's shell finds no such program
  std::string network_log;                  // of every worker
  std::map<std::string, std::string> logs;  // what `kubectl logs` prints, by the namespace
  std::chrono::system_clock::time_point now;

 private:
  Json answer(const std::string& question, const Command& command);
  Json report();

  std::map<std::string, std::vector<std::function<void(Json&)>>> changes_;
  std::map<std::string, std::string> refused_;
};

}  // namespace lockstep::cluster::doctor
