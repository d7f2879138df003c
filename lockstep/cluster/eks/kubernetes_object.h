// Parts of Kubernetes' objects as kubectl prints them, and the lists that `up`, `doctor` and `status` ask
// for: each is asked for here alone. (Shapes: the API reference of Kubernetes, v1 and apps/v1.)
#pragma once

#include <string>

#include "lockstep/base/json.h"
#include "lockstep/cluster/eks/kubernetes.h"

namespace lockstep::cluster::eks {

constexpr const char* kGpuResource = "nvidia.com/gpu";
constexpr const char* kEfaResource = "vpc.amazonaws.com/efa";

// What an object has; "" where it has none.
std::string name_of(const Json& object);
std::string label_of(const Json& object, const std::string& label);

// Devices of a kind that a node gives to pods.
int64_t devices_of(const Json& node, const std::string& resource);
// By the label that NVIDIA's plugin looks for.
bool has_gpu_label(const Json& node);

// An entry of status.conditions: whether it is "True", and its message.
bool is_true(const Json& object, const std::string& condition);
std::string condition_message(const Json& object, const std::string& condition);

// Whether it was told to end.
bool is_leaving(const Json& object);
// Why a pod is not running, in Kubernetes' own words; "" where it says nothing.
std::string why_not_running(const Json& pod);
// Whether it waits in KubeRay's init container for the head.
bool waits_for_head(const Json& pod);
// "head" or "worker"; "" for a pod that is not Ray's.
std::string ray_role(const Json& pod);

// Each throws CommandError.
Json list_nodes(Kubernetes& kubernetes);
// Of the namespace of EKS' own parts, where both plugins are.
Json list_daemonsets(Kubernetes& kubernetes);
// All, or those that the selector takes.
Json list_pods(Kubernetes& kubernetes, const std::string& name_space, const std::string& selector = "");
Json list_events(Kubernetes& kubernetes, const std::string& name_space);
Json list_ray_clusters(Kubernetes& kubernetes, const std::string& name_space);
Json list_ray_jobs(Kubernetes& kubernetes, const std::string& name_space);
// Deployments of the operator's namespace.
Json list_operators(Kubernetes& kubernetes);

// That of a Helm release; null where there is none.
const Json& daemonset_of(const Json& daemonsets, const std::string& release);

// What follows the colon in an image's name ("v1.6.2"); "" where it is named by digest, or without a tag.
std::string tag_of(const std::string& image);

// What `ray list jobs --format json` prints in the head: a list of JobState (python/ray/util/state/common.py
// of ray-project/ray). Throws CommandError.
Json list_jobs_of_ray(Kubernetes& kubernetes, const std::string& name_space, const std::string& head);
// What `ray status` prints in the head.
std::string ray_status(Kubernetes& kubernetes, const std::string& name_space, const std::string& head);

}  // namespace lockstep::cluster::eks
