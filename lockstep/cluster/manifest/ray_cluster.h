// The RayCluster (ray.io/v1): a head without GPUs on the system node, and a worker pod a GPU node.
// CRD: ray-project/kuberay, ray-operator/config/crd/bases/ray.io_rayclusters.yaml.
#pragma once

#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/manifest/manifest_file.h"

namespace lockstep::cluster::manifest {

ManifestFile ray_cluster(const eks::Deployment& deployment);

// What runs in a worker's shell before `ray start`. KubeRay's command takes the place of the image's entry
// point, and with it of the step that makes a CUDA newer than the node's driver work: the image's libcuda is
// put first where it is of a newer release than the driver. One line, ends with success, and has no "$(":
// Kubernetes expands that.
std::string forward_compatibility_step();

}  // namespace lockstep::cluster::manifest
