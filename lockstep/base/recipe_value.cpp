#include "lockstep/base/recipe_value.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep {
namespace {

// The whole text as one number, in the C locale whatever the user's is.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

Json json_of_scalar(const YAML::Node& node) {
  constexpr std::string_view kQuoted = "!";
  const std::string& text = node.Scalar();
  if (node.Tag() == kQuoted) return text;
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = number_in<int64_t>(text)) return *whole;
  const auto number = number_in<double>(text);
  return number && std::isfinite(*number) ? Json(*number) : Json(text);
}

Json json_of(const YAML::Node& node, const RecipeValue& value) {
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const YAML::Node& entry : node) list.push_back(json_of(entry, value));
    return list;
  }
  if (node.IsMap()) {
    Json mapping = Json::object();
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) value.complain("has a key that is not a plain word");
      mapping[entry.first.Scalar()] = json_of(entry.second, value);
    }
    return mapping;
  }
  return node.IsScalar() ? json_of_scalar(node) : Json();
}

template <typename Number>
Number read_number(const RecipeValue& value) {
  const auto number = value.node.IsScalar() ? number_in<Number>(value.node.Scalar()) : std::nullopt;
  if (!number) value.refuse(RecipeType<Number>::kKind);
  return *number;
}

}  // namespace

std::string RecipeValue::place() const { return line == 0 ? origin : fmt::format("{}:{}", origin, line); }

void RecipeValue::complain(std::string_view what) const {
  throw ConfigError(fmt::format("{}: {} {}", place(), name, what));
}

void RecipeValue::refuse(std::string_view must_be) const {
  complain(fmt::format("must be {}, got {}", must_be, shown()));
}

std::string RecipeValue::shown() const {
  constexpr size_t kLongest = 60;
  if (node.IsNull()) return "nothing";
  if (node.IsSequence()) return "a list";
  if (!node.IsScalar()) return "a mapping of keys";
  const std::string& text = node.Scalar();
  if (number_in<double>(text)) return text;
  // JSON's quoting keeps it on one line; a character cut in half is replaced.
  const std::string quoted =
      Json(text.substr(0, kLongest)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kLongest ? quoted : quoted + "...";
}

std::string RecipeType<std::string>::read(const RecipeValue& value) {
  if (!value.node.IsScalar()) value.refuse(kKind);
  const std::string& text = value.node.Scalar();
  if (text.empty()) value.refuse("text, not empty");
  if (text.find('\0') != text.npos) value.refuse("text without zero bytes");
  return text;
}

bool RecipeType<bool>::read(const RecipeValue& value) {
  const std::string text = value.node.IsScalar() ? value.node.Scalar() : "";
  if (text != "true" && text != "false") value.refuse(kKind);
  return text == "true";
}

int64_t RecipeType<int64_t>::read(const RecipeValue& value) { return read_number<int64_t>(value); }

uint64_t RecipeType<uint64_t>::read(const RecipeValue& value) { return read_number<uint64_t>(value); }

double RecipeType<double>::read(const RecipeValue& value) {
  const double number = read_number<double>(value);
  if (!std::isfinite(number)) value.refuse(kKind);
  return number;
}

std::chrono::seconds RecipeType<std::chrono::seconds>::read(const RecipeValue& value) {
  constexpr double kLongest = 1e9;  // 30 years: deadlines computed from it stay in range
  if (!value.node.IsScalar()) value.refuse(kKind);
  std::string_view text = value.node.Scalar();
  double unit = 1;
  if (text.ends_with('m')) unit = 60;
  if (text.ends_with('m') || text.ends_with('s')) text.remove_suffix(1);
  const double seconds = number_in<double>(text).value_or(NAN) * unit;
  if (!(std::abs(seconds) <= kLongest) || seconds != std::floor(seconds)) value.refuse(kKind);
  return std::chrono::seconds(static_cast<int64_t>(seconds));
}

Json RecipeType<Json>::read(const RecipeValue& value) {
  if (!value.node.IsMap()) value.refuse(kKind);
  return json_of(value.node, value);
}

std::vector<RecipeValue> list_entries(const RecipeValue& value, std::string_view kind) {
  if (!value.node.IsSequence()) value.refuse(kind);
  std::vector<RecipeValue> entries;
  for (const YAML::Node& node : value.node) {
    entries.push_back({.key = value.key,
                       .name = fmt::format("{}[{}]", value.name, entries.size()),
                       .origin = value.origin,
                       .line = value.line == 0 ? 0 : node.Mark().line + 1,
                       .node = node});
  }
  return entries;
}

}  // namespace lockstep
