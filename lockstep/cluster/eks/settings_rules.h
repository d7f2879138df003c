// What the keys of cluster.yaml must be to each other, and to the instance types that they name.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/recipe_settings.h"
#include "lockstep/cluster/eks/settings.h"

namespace lockstep::cluster::eks {

// Throws ConfigError with the place of the value at fault (`origin` where a default is), and fills in what
// follows from other keys: the region, and what a worker pod asks for. `values` are the settings as given.
void check_together(ClusterSettings& settings, const RecipeSettings& values, const std::string& origin);

// What is allowed but worth a thought, one line each.
std::vector<std::string> notes_on(const ClusterSettings& settings);

}  // namespace lockstep::cluster::eks
