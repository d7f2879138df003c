// A recipe's YAML and the command line's overrides as one flat list of settings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lockstep/base/recipe_value.h"

namespace lockstep {

using RecipeSettings = std::map<std::string, RecipeValue>;  // by key

// The values in `mapping`, named by their keys joined with dots. A key of `known` is one setting, whatever
// its value; what leads to one is a group. Throws ConfigError for anything else (naming the nearest known
// key), a key given twice, and one without a value. `name` and `origin` as in RecipeValue; `name` is empty at
// the top.
RecipeSettings flatten(const YAML::Node& mapping, const std::string& name, const std::string& origin,
                       const std::vector<std::string>& known);

// Puts "key=value" overrides in the place of what they replace. An override without a value
// ("train.epochs=") takes the setting away. Throws ConfigError as flatten() does.
void apply_overrides(RecipeSettings& settings, const std::vector<std::string>& overrides,
                     const std::vector<std::string>& known);

// Flattens a recipe's text and applies the overrides. Throws ConfigError as flatten() does, and for text
// that is not UTF-8 or not YAML.
RecipeSettings read_settings(const std::string& yaml, const std::string& origin,
                             const std::vector<std::string>& overrides,
                             const std::vector<std::string>& known);

}  // namespace lockstep
