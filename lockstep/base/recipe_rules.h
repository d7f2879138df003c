// What a recipe's keys must be to each other.
#pragma once

#include <string>

#include "lockstep/base/recipe.h"
#include "lockstep/base/recipe_settings.h"

namespace lockstep {

// Throws ConfigError, placed at the key to change: nothing to train on or for, two keys that
// exclude each other, batches that do not divide. Looks at the values alone.
void check_together(const Recipe& recipe, const RecipeSettings& settings, const std::string& origin);

// Throws ConfigError for a model folder or data file that is not there.
void check_files(const Recipe& recipe, const RecipeSettings& settings, const std::string& origin);

}  // namespace lockstep
