// An AWS account whose EKS cluster is a KubeBed: what `lockstep cluster up` and `down` do to Kubernetes is
// done to a real API server, by the real kubectl; aws and eksctl are FakeWorld's, and helm installs stand-ins
// for what has no chart here (the device plugins: a DaemonSet each) or runs already (KubeRay's operator).
#pragma once

#include <string>
#include <vector>

#include "kube_bed.h"
#include "lockstep/cluster/eks/surroundings.h"
#include "tests/cluster/eks/fake_world.h"

namespace lockstep::kube {

class EksOnBed : public cluster::CommandRunner {
 public:
  explicit EksOnBed(KubeBed& bed) : bed_(bed) {}

  cluster::CommandResult run(const cluster::Command& command) override;

  // With pauses that are short, by a clock that is fast.
  cluster::eks::Surroundings surroundings();

  cluster::eks::FakeWorld world;
  std::vector<std::string> said;

 private:
  // The node groups of an eksctl file: as many nodes, with their labels and taints.
  void add_nodes(const Json& config);
  void install(const std::string& chart, const Json& values);

  KubeBed& bed_;
};

}  // namespace lockstep::kube
