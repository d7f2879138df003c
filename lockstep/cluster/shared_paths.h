// The paths in a recipe, when its workers run on other machines.
#pragma once

#include "lockstep/base/recipe.h"

namespace lockstep::cluster {

// Throws ConfigError unless every path that the recipe names is absolute or a URL (s3://, gs://): each node
// resolves a relative one in a folder of its own. Looks at no file: what there is on the cluster's nodes may
// not be on this machine.
void require_absolute_paths(const Recipe& recipe);

}  // namespace lockstep::cluster
