#include "lockstep/base/recipe_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/nearest.h"
#include "lockstep/base/yaml_document.h"

namespace lockstep {
namespace {

constexpr std::string_view kCommandLine = "command line";

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

// What can follow `group` ("" is the top), each name once.
std::vector<std::string> names_in(const std::string& group, const std::vector<std::string>& known) {
  const std::string prefix = group.empty() ? "" : group + ".";
  std::vector<std::string> names;
  for (const std::string& key : known) {
    if (!key.starts_with(prefix)) continue;
    const std::string name = key.substr(prefix.size(), key.find('.', prefix.size()) - prefix.size());
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

std::string parent(const std::string& key) {
  return key.find('.') == key.npos ? "" : key.substr(0, key.rfind('.'));
}

// The key of `group` that a mistyped name in it most likely means: the nearest, or the first that
// it begins ("warmup" for warmup_steps).
std::optional<std::string> guess_in_group(const std::string& name, const std::vector<std::string>& names) {
  constexpr size_t kTelling = 3;  // letters that say something
  if (const auto guess = nearest(name, names)) return guess;
  const auto begins = [&](const std::string& other) {
    return name.size() >= kTelling && other.starts_with(name);
  };
  const auto longer = std::find_if(names.begin(), names.end(), begins);
  return longer == names.end() ? std::nullopt : std::optional(*longer);
}

// What to write instead of an unknown key: one of its group, the same name in another group, or
// failing both what the group has.
std::string way_out(const std::string& key, const std::vector<std::string>& known) {
  std::string group = parent(key);
  while (names_in(group, known).empty()) group = parent(group);
  const std::vector<std::string> names = names_in(group, known);
  if (const auto guess = guess_in_group(last_part(key), names)) {
    return fmt::format("did you mean {}{}{}?", group, group.empty() ? "" : ".", *guess);
  }
  for (const std::string& candidate : known) {
    if (last_part(candidate) == last_part(key)) return fmt::format("did you mean {}?", candidate);
  }
  if (const auto guess = nearest(key, known)) return fmt::format("did you mean {}?", *guess);
  return fmt::format("{} {}", group.empty() ? "there are" : group + " has", fmt::join(names, ", "));
}

class Flattener {
 public:
  Flattener(std::string origin, const std::vector<std::string>& known)
      : origin_(std::move(origin)), known_(known) {}

  void add_mapping(const YAML::Node& mapping, const std::string& key_prefix, const std::string& name_prefix) {
    for (const auto& entry : mapping) {
      const YAML::Node& name = entry.first;
      if (!name.IsScalar()) {
        throw ConfigError(fmt::format("{}:{}: a key must be a plain word", origin_, name.Mark().line + 1));
      }
      add({.key = key_prefix + name.Scalar(),
           .name = name_prefix + name.Scalar(),
           .origin = origin_,
           .line = origin_ == kCommandLine ? 0 : name.Mark().line + 1,
           .node = entry.second});
    }
  }

  void add(const RecipeValue& value) {
    if (std::find(known_.begin(), known_.end(), value.key) != known_.end()) {
      if (value.node.IsNull() && origin_ != kCommandLine)
        value.complain("has no value: give one, or remove the line");
      const auto [other, is_first] = settings_.emplace(value.key, value);
      if (!is_first) value.complain(fmt::format("is given twice, first on line {}", other->second.line));
      return;
    }
    const std::vector<std::string> inside = names_in(value.key, known_);
    if (inside.empty()) {
      const std::string shown = Json(value.name).dump(-1, ' ', false, Json::error_handler_t::replace);
      throw ConfigError(
          fmt::format("{}: unknown key {}: {}", value.place(), shown, way_out(value.key, known_)));
    }
    if (!value.node.IsMap()) value.refuse(fmt::format("a mapping of keys ({})", fmt::join(inside, ", ")));
    add_mapping(value.node, value.key + ".", value.name + ".");
  }

  RecipeSettings take() { return std::move(settings_); }

 private:
  std::string origin_;
  const std::vector<std::string>& known_;
  RecipeSettings settings_;
};

RecipeValue parse_override(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    throw ConfigError(
        fmt::format("{}: \"{}\" must be key=value, such as train.steps=50", kCommandLine, text));
  }
  const std::string key = text.substr(0, equals);
  try {
    return {.key = key,
            .name = key,
            .origin = std::string(kCommandLine),
            .node = parse_yaml(text.substr(equals + 1), std::string(kCommandLine))};
  } catch (const ConfigError&) {
    throw ConfigError(fmt::format("{}: the value of {} is not valid YAML: quote it, as in {}='\"...\"'",
                                  kCommandLine, key, key));
  }
}

}  // namespace

RecipeSettings flatten(const YAML::Node& mapping, const std::string& name, const std::string& origin,
                       const std::vector<std::string>& known) {
  Flattener flattener(origin, known);
  flattener.add_mapping(mapping, "", name.empty() ? "" : name + ".");
  return flattener.take();
}

void apply_overrides(RecipeSettings& settings, const std::vector<std::string>& overrides,
                     const std::vector<std::string>& known) {
  for (const std::string& text : overrides) {
    Flattener flattener{std::string(kCommandLine), known};
    flattener.add(parse_override(text));
    for (const auto& [key, value] : flattener.take()) {
      settings.erase(key);
      if (!value.node.IsNull()) settings.emplace(key, value);
    }
  }
}

RecipeSettings read_settings(const std::string& yaml, const std::string& origin,
                             const std::vector<std::string>& overrides,
                             const std::vector<std::string>& known) {
  const YAML::Node document = parse_yaml(yaml, origin);
  if (document.IsNull() || !document.IsMap()) {
    throw ConfigError(fmt::format("{}: {}: a recipe is a mapping of keys; examples/tiny.yaml is one", origin,
                                  document.IsNull() ? "empty" : "not a recipe"));
  }
  RecipeSettings settings = flatten(document, "", origin, known);
  apply_overrides(settings, overrides, known);
  return settings;
}

}  // namespace lockstep
