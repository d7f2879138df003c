#include "lockstep/models/json_file.h"

#include <fmt/core.h>

#include <fstream>
#include <iterator>
#include <set>

#include "lockstep/base/error.h"

namespace lockstep::models {

std::string json_words(const Json& value) {
  constexpr size_t kMaxWords = 200;
  std::string words = value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  if (words.size() > kMaxWords) words = words.substr(0, kMaxWords - 3) + "...";
  return words;
}

Json parse_json(std::string_view text, const std::string& origin) {
  constexpr int kMaxDepth = 32;
  bool too_deep = false;
  std::set<std::string> names;
  std::string twice;
  const auto see = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    too_deep |= depth > kMaxDepth;
    return depth <= kMaxDepth;  // false: left out
  };
  Json json;
  try {
    json = Json::parse(text, see);
  } catch (const Json::exception& error) {  // also a number that no double holds
    throw ConfigError(fmt::format("model: {} is not JSON: {}. Download it again", origin, error.what()));
  }
  if (too_deep)
    throw ConfigError(fmt::format("model: {} is nested deeper than {} levels", origin, kMaxDepth));
  if (!json.is_object()) throw ConfigError(fmt::format("model: {} must hold a JSON object", origin));
  if (!twice.empty()) {
    throw ConfigError(fmt::format("model: {} names {} twice. Keep the right one", origin, json_words(twice)));
  }
  return json;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    throw ConfigError(fmt::format("model: cannot read {}. Give model.source a Hugging Face folder", path));
  }
  return text;
}

Json load_json(const std::string& path) { return parse_json(read_text(path), path); }

}  // namespace lockstep::models
