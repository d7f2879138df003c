// The key table of cluster.yaml: every key, its type, its range and when it has an effect.
#pragma once

#include <vector>

#include "lockstep/base/recipe_key.h"
#include "lockstep/cluster/eks/settings.h"

namespace lockstep::cluster::eks {

const std::vector<RecipeKey<ClusterSettings>>& cluster_keys();

}  // namespace lockstep::cluster::eks
