// Values of the three charts, where they differ from the charts' own.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/manifest/manifest_file.h"

namespace lockstep::cluster::manifest {

struct HelmRelease {
  std::string name, chart, repository, version, namespace_name;
  ManifestFile values;
};

HelmRelease nvidia_plugin(const eks::Deployment& deployment);
HelmRelease efa_plugin(const eks::Deployment& deployment);
HelmRelease kuberay_operator(const eks::Deployment& deployment);

}  // namespace lockstep::cluster::manifest
