// Applies a key table to settings.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/nearest.h"
#include "lockstep/base/recipe_key.h"
#include "lockstep/base/recipe_settings.h"

namespace lockstep {

// Checks one value that was just read into `owner`: its range, and whether it is built yet.
template <typename Owner>
void check_value(const RecipeKey<Owner>& key, const RecipeValue& value, const Owner& owner) {
  const Json json = key.field.write(owner);
  const RecipeRange& range = key.range;
  if (range.holds && !range.holds(json)) {
    if (range.choices.empty()) value.refuse(key.field.kind + range.words);
    const auto guess = nearest(value.node.Scalar(), range.choices);
    value.complain(fmt::format("must be {}, got {}{}", range.words, value.shown(),
                               guess ? fmt::format(": did you mean {}?", *guess) : ""));
  }
  if (key.built.holds && !key.built.holds(json)) {
    value.complain(fmt::format("{} is not supported yet; {}", value.shown(), key.built.way_out));
  }
}

// Reads every setting into `owner`, and refuses those without effect once all are there. Keys that
// are not set keep what `owner` has. Throws ConfigError.
template <typename Owner>
void read_keys(const std::vector<RecipeKey<Owner>>& keys, const RecipeSettings& settings, Owner& owner) {
  for (const auto& key : keys) {
    const auto found = settings.find(key.path);
    if (found == settings.end()) continue;
    key.field.read(owner, found->second);
    check_value(key, found->second, owner);
  }
  for (const auto& key : keys) {
    const auto found = settings.find(key.path);
    if (found == settings.end() || !key.is_idle(owner)) continue;
    found->second.complain(fmt::format("has no effect {}: remove it", key.idle(owner)));
  }
}

// What every key of the table has, nested as its path says; null for one that has no effect.
template <typename Owner>
Json values_of(const std::vector<RecipeKey<Owner>>& keys, const Owner& owner) {
  Json values = Json::object();
  for (const auto& key : keys) {
    std::string pointer = "/" + key.path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    values[Json::json_pointer(pointer)] = key.is_idle(owner) ? Json() : key.field.write(owner);
  }
  return values;
}

}  // namespace lockstep
