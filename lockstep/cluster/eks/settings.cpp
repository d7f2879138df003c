#include "lockstep/cluster/eks/settings.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "lockstep/base/error.h"
#include "lockstep/base/recipe_keys.h"
#include "lockstep/base/recipe_reader.h"
#include "lockstep/base/yaml_document.h"
#include "lockstep/cluster/eks/env_file.h"
#include "lockstep/cluster/eks/settings_keys.h"
#include "lockstep/cluster/eks/settings_rules.h"

namespace lockstep::cluster::eks {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw ConfigError(fmt::format("{}: no cluster settings that could be read", path));
  return text;
}

bool is_shell(const std::string& path) { return path.ends_with(".sh") || path.ends_with(".env"); }

RecipeSettings settings_in_yaml(const std::string& yaml, const std::string& origin) {
  const YAML::Node document = parse_yaml(yaml, origin);
  if (document.IsNull()) return {};  // all defaults
  if (!document.IsMap())
    throw ConfigError(
        fmt::format("{}: not cluster settings, which are a mapping of keys (docs/cluster.md)", origin));
  return flatten(document, "", origin, paths_of(cluster_keys()));
}

ClusterSettings from_settings(RecipeSettings values, const std::string& origin,
                              const std::vector<std::string>& overrides) {
  apply_overrides(values, overrides, paths_of(cluster_keys()));
  ClusterSettings settings;
  read_keys(cluster_keys(), values, settings);
  check_together(settings, values, origin);
  return settings;
}

}  // namespace

ClusterSettings ClusterSettings::load(const std::string& path, const std::vector<std::string>& overrides) {
  const std::string text = text_of(path);
  return from_settings(is_shell(path) ? settings_in_env_file(text, path) : settings_in_yaml(text, path), path,
                       overrides);
}

ClusterSettings ClusterSettings::parse(const std::string& yaml, const std::string& origin,
                                       const std::vector<std::string>& overrides) {
  return from_settings(settings_in_yaml(yaml, origin), origin, overrides);
}

Json ClusterSettings::effective() const { return values_of(cluster_keys(), *this); }

}  // namespace lockstep::cluster::eks
