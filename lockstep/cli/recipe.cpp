// lockstep recipe check|show RECIPE [key=value...]
#include "lockstep/base/recipe.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/cli/commands.h"
#include "lockstep/cli/recipe_arguments.h"
#include "lockstep/train/recipe_text.h"

namespace lockstep::cli {
namespace {

int check(const RecipeArguments& arguments) {
  Recipe::load(arguments.path, arguments.overrides);
  std::cout << arguments.path << ": ok\n";
  return 0;
}

int show(const RecipeArguments& arguments, bool as_json) {
  const Recipe recipe = Recipe::load(arguments.path, arguments.overrides);
  std::cout << (as_json ? recipe.effective().dump(2) + "\n" : train::recipe_text(recipe));
  return 0;
}

}  // namespace

void add_recipe(CLI::App& root, Action& action) {
  CLI::App* recipe = root.add_subcommand("recipe", "Check a recipe, or show it with every default");
  recipe->require_subcommand(0, 1);
  recipe->footer("`lockstep recipe COMMAND --help` says more. All keys: docs/recipe.md.");

  auto arguments = std::make_shared<RecipeArguments>();
  CLI::App* check_command =
      recipe->add_subcommand("check", "Say whether a recipe is right, and where it is not");
  add_recipe_arguments(*check_command, *arguments);
  check_command->footer(
      "Exit code 0 when it is, 2 when it is not. Nothing is read or made besides the recipe.");
  check_command->callback([=, &action] { action = [=] { return check(*arguments); }; });

  CLI::App* show_command = recipe->add_subcommand("show", "Print a recipe with every default, as a recipe");
  add_recipe_arguments(*show_command, *arguments);
  auto as_json = std::make_shared<bool>(false);
  show_command->add_flag("--json", *as_json, "As JSON instead of YAML");
  show_command->footer("Example:\n  lockstep recipe show examples/tiny.yaml optimizer.lr=3e-4");
  show_command->callback([=, &action] { action = [=] { return show(*arguments, *as_json); }; });
}

}  // namespace lockstep::cli
