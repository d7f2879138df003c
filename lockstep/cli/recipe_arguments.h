// What every command that takes a recipe takes: RECIPE [KEY=VALUE...].
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct RecipeArguments {
  std::string path;
  std::vector<std::string> overrides;  // "train.steps=50"
};

// `arguments` must live until the command line has been parsed.
void add_recipe_arguments(CLI::App& command, RecipeArguments& arguments);

}  // namespace lockstep::cli
