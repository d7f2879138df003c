// An EksOnBed whose helm is Helm's own program, with the charts of `lockstep cluster up` from a server on
// loopback. They are stand-ins (charts/), with the names, the versions and the repositories' addresses of the
// publishers' own, which are not fetched here: what is tried is our command line and our values, not what the
// publishers make of them.
#pragma once

#include <memory>
#include <string>

#include "eks_on_bed.h"
#include "lockstep/base/temporary_folder.h"
#include "lockstep/cluster/manifest/helm_values.h"

namespace lockstep::kube {

class HelmOnBed : public EksOnBed {
 public:
  explicit HelmOnBed(KubeBed& bed);
  ~HelmOnBed() override;

  // helm's `--repo https://…` becomes that repository on this server; all else stays.
  cluster::CommandResult run(const cluster::Command& command) override;
  // helm with these arguments, which must succeed, on the bed. Returns its output.
  std::string helm(std::vector<std::string> arguments);

  // Makes a chart of charts/`kind` that the release's repository gives in the release's version, beside
  // others.
  void publish(const cluster::manifest::HelmRelease& release, const std::string& kind);

 private:
  struct Http;

  std::string kubeconfig_;
  TemporaryFolder folder_;  // helm's own files, charts being made, and the served ones
  std::unique_ptr<Http> http_;
  std::string address_;
};

}  // namespace lockstep::kube
