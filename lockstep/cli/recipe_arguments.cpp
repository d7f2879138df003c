#include "lockstep/cli/recipe_arguments.h"

namespace lockstep::cli {

void add_recipe_arguments(CLI::App& command, RecipeArguments& arguments) {
  command.add_option("RECIPE", arguments.path, "The recipe, a YAML file (its keys: docs/recipe.md)")
      ->required();
  command
      .add_option("KEY=VALUE", arguments.overrides, "Keys of the recipe to replace, such as train.steps=50")
      ->type_name("");
}

}  // namespace lockstep::cli
