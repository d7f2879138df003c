#include "lockstep/base/recipe_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lockstep {

RecipeRange at_least(double lowest) {
  return {fmt::format(" of at least {}", lowest),
          [=](const Json& value) { return value.is_null() || value.get<double>() >= lowest; },
          {}};
}

RecipeRange above(double bound) {
  return {fmt::format(" above {}", bound),
          [=](const Json& value) { return value.is_null() || value.get<double>() > bound; },
          {}};
}

RecipeRange one_of(std::vector<std::string> choices) {
  const auto holds = [=](const Json& value) {
    return value.is_null() || std::find(choices.begin(), choices.end(), value) != choices.end();
  };
  return {fmt::format("{}{}", choices.size() > 1 ? "one of " : "", fmt::join(choices, ", ")), holds, choices};
}

RecipeBuilt only(const Json& value) {
  const std::string way_out = value.is_string() ? value.get<std::string>() : value.dump();
  return {[=](const Json& given) { return given == value; }, fmt::format("use {}", way_out)};
}

RecipeBuilt not_yet() {
  return {[](const Json&) { return false; }, "remove it"};
}

}  // namespace lockstep
