// A recipe with every default, for people: `lockstep recipe show` and `train --dry-run`.
#pragma once

#include <string>

#include "lockstep/base/recipe.h"

namespace lockstep::train {

// YAML that reads back as the same recipe, in the key table's order. Keys without a value are
// named in a comment below it.
std::string recipe_text(const Recipe& recipe);

}  // namespace lockstep::train
