// What is wrong with a Ray manifest although its schema takes it: what KubeRay refuses only once it is
// applied (ray-operator/controllers/ray/utils/validation.go), and what it takes without a word and does
// otherwise than meant.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::cluster::manifest {

// Kinds looked at: RayCluster and RayJob of ray.io/v1. One line a fault, with field, value and way out; none
// for other kinds.
std::vector<std::string> faults_in(const Json& document);

// Whether every container of a pod template asks for exactly what it is limited to, in CPU and memory:
// quality of service Guaranteed.
bool is_guaranteed(const Json& pod_template);

// A manifest file of one document, as JSON. Throws ConfigError for one that cannot be read.
Json load_manifest(const std::string& path);
// Whether the file's document says what kind of Kubernetes object it is.
bool is_manifest(const Json& document);

}  // namespace lockstep::cluster::manifest
