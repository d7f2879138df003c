// A file of shell variables, such as the env.sh of AWS's Ray Train sample, as cluster settings.
//
// Read, never run: assignments of text ("export NAME=text", NAME="text", NAME=${NAME:-"text"}, references to
// variables above), comments, and lines that only load another file, which is not loaded. As in a shell, a
// variable that this program's environment has takes the place of a default after ":-".
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/recipe_settings.h"

namespace lockstep::cluster::eks {

// What a variable is here.
struct EnvVariable {
  std::string name;
  std::string key;    // of cluster.yaml; empty: none
  std::string other;  // without a key, where it belongs: "the recipe's train.steps"
};
const std::vector<EnvVariable>& env_variables();

// Throws ConfigError with file and line for a line that is no such assignment, a variable that is not known,
// and a value that contradicts another (GPUS_PER_NODE against GPU_NODE_TYPE).
RecipeSettings settings_in_env_file(const std::string& text, const std::string& origin);

}  // namespace lockstep::cluster::eks
