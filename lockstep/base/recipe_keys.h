// The key table: every key that a recipe can have. docs/recipe.md describes them to users.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/recipe.h"
#include "lockstep/base/recipe_key.h"

namespace lockstep {

const std::vector<RecipeKey<Recipe>>& recipe_keys();
const std::vector<RecipeKey<DataSourceConfig>>& data_source_keys();  // of an entry of data.sources

// The paths of a table's keys, in its order.
template <typename Owner>
std::vector<std::string> paths_of(const std::vector<RecipeKey<Owner>>& keys) {
  std::vector<std::string> paths;
  for (const auto& key : keys) paths.push_back(key.path);
  return paths;
}

}  // namespace lockstep
