#include "lockstep/base/recipe.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/recipe_keys.h"
#include "lockstep/base/recipe_reader.h"
#include "lockstep/base/recipe_rules.h"
#include "lockstep/base/recipe_settings.h"

namespace lockstep {
namespace {

std::string read_text(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr size_t kLargest = 1 << 20;  // far above any recipe: this is some other file
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw ConfigError(fmt::format("{}: no such recipe", path));
  if (fs::is_directory(path, ignored)) throw ConfigError(fmt::format("{}: a folder, not a recipe", path));
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargest + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) throw ConfigError(fmt::format("{}: cannot be read: check its permissions", path));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kLargest) throw ConfigError(fmt::format("{}: over 1 MiB: not a recipe", path));
  return text;
}

std::string last_folder(const std::string& path) {
  const std::filesystem::path folder(path);
  return (folder.has_filename() ? folder : folder.parent_path()).filename();
}

Recipe from_settings(const RecipeSettings& settings, const std::string& origin) {
  Recipe recipe;
  read_keys(recipe_keys(), settings, recipe);
  check_together(recipe, settings, origin);
  if (recipe.run.dir.empty()) recipe.run.dir = "runs/" + recipe.name;
  if (recipe.name.empty()) recipe.name = last_folder(recipe.run.dir);
  return recipe;
}

}  // namespace

Recipe Recipe::load(const std::string& path, const std::vector<std::string>& overrides) {
  const RecipeSettings settings = read_settings(read_text(path), path, overrides, paths_of(recipe_keys()));
  const Recipe recipe = from_settings(settings, path);
  check_files(recipe, settings, path);
  return recipe;
}

Recipe Recipe::parse(const std::string& yaml, const std::string& origin,
                     const std::vector<std::string>& overrides) {
  return from_settings(read_settings(yaml, origin, overrides, paths_of(recipe_keys())), origin);
}

Json Recipe::effective() const { return values_of(recipe_keys(), *this); }

}  // namespace lockstep
