// The image of a RayCluster that is there already.
#pragma once

#include "lockstep/cluster/eks/kubernetes.h"
#include "lockstep/cluster/eks/surroundings.h"

namespace lockstep::cluster::eks {

// Brings Ray's head and workers to the image that the deployment's settings name: applies the RayCluster as
// `up` does, removes the pods of another image, since KubeRay changes the image of none that is there, and
// waits as `up` does, until CUDA starts in a worker. Whatever runs in the pods ends. Throws CommandError with
// what does not come, which ends with `way_on`; may be called again after any failure.
void set_ray_image(Kubernetes& kubernetes, const Deployment& deployment, const Surroundings& surroundings,
                   const std::string& way_on);

// What it does, as the commands are now: without those that only look.
std::vector<std::string> ray_image_commands(Kubernetes& kubernetes, const Deployment& deployment);

}  // namespace lockstep::cluster::eks
