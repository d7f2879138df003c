// What a recipe's keys must be to each other.
#pragma once

#include <optional>
#include <string>

#include "lockstep/base/recipe.h"
#include "lockstep/base/recipe_settings.h"

namespace lockstep {

// Throws ConfigError, placed at the key to change: nothing to train on or for, two keys that
// exclude each other, batches that do not divide. Looks at the values alone.
void check_together(const Recipe& recipe, const RecipeSettings& settings, const std::string& origin);

// Why so many workers cannot train this recipe with the same bits as any other number: with
// determinism: elastic there must be a power of two of them, no more than there are micro-batches
// in a step. Nothing if they can, or need not. Expects train.global_batch to divide into
// micro-batches.
std::optional<std::string> elastic_refusal(const Recipe& recipe, int64_t num_workers);

// data.held_out as a share; nothing when it does not read as a number, and so is empty or a file.
std::optional<double> held_out_share(const std::string& held_out);

// Throws ConfigError for a model folder or data file that is not there.
void check_files(const Recipe& recipe, const RecipeSettings& settings, const std::string& origin);

}  // namespace lockstep
