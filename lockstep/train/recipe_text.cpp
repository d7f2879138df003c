#include "lockstep/train/recipe_text.h"

#include <vector>

#include "lockstep/base/yaml_text.h"

namespace lockstep::train {
namespace {

// What has a value in `keys`; the names of the others go to `unset`.
Json with_values(const Json& keys, const std::string& prefix, std::vector<std::string>& unset) {
  Json result = Json::object();
  for (const auto& [name, value] : keys.items()) {
    if (value.is_object()) {
      Json group = with_values(value, prefix + name + ".", unset);
      if (!group.empty()) result[name] = std::move(group);
    } else if (value.is_null() || (value.is_array() && value.empty())) {
      unset.push_back(prefix + name);
    } else {
      result[name] = value;
    }
  }
  return result;
}

}  // namespace

std::string recipe_text(const Recipe& recipe) {
  std::vector<std::string> unset;
  const std::string text = yaml_text(with_values(recipe.effective(), "", unset));
  if (unset.empty()) return text;
  std::string comment;
  std::string line = "# Not set:";
  for (const std::string& name : unset) {
    if (line.size() + name.size() > 98) {
      comment += line + "\n";
      line.assign(1, '#');
    }
    line += " " + name;
  }
  return text + comment + line + "\n";
}

}  // namespace lockstep::train
