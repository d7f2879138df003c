// One value of a recipe, knowing where it stands, converted into the type that its key asks for.
#pragma once

#include <yaml-cpp/yaml.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep {

struct RecipeValue {
  std::string key;        // as the key table spells it: "train.steps"; "path" in an entry of data.sources
  std::string name;       // as messages spell it: "train.steps", "data.sources[0].path"
  std::string origin;     // the file, or "command line"
  int line = 0;           // from 1; 0 on the command line
  const YAML::Node node;  // const: assigning to a YAML::Node would write into the document

  std::string place() const;  // "recipe.yaml:7", or "command line"
  // Throws ConfigError "<place>: <name> must be <must_be>, got <the value>".
  [[noreturn]] void refuse(std::string_view must_be) const;
  // Throws ConfigError "<place>: <name> <what>".
  [[noreturn]] void complain(std::string_view what) const;
  // The value for a message: short, one line, text in quotes.
  std::string shown() const;
};

// A type that values can have: kKind names it in messages, read() throws ConfigError when the
// value is something else, write() gives its JSON, null for what is not set.
template <typename T>
struct RecipeType;

template <>
struct RecipeType<std::string> {
  static constexpr std::string_view kKind = "text";
  static std::string read(const RecipeValue& value);
  static Json write(const std::string& text) { return text.empty() ? Json() : Json(text); }
};
template <>
struct RecipeType<bool> {
  static constexpr std::string_view kKind = "true or false";
  static bool read(const RecipeValue& value);
  static Json write(bool value) { return value; }
};
template <>
struct RecipeType<int64_t> {
  static constexpr std::string_view kKind = "a whole number";
  static int64_t read(const RecipeValue& value);
  static Json write(int64_t value) { return value; }
};
template <>
struct RecipeType<uint64_t> {
  static constexpr std::string_view kKind = "a whole number from 0 to 18446744073709551615";
  static uint64_t read(const RecipeValue& value);
  static Json write(uint64_t value) { return value; }
};
template <>
struct RecipeType<double> {
  static constexpr std::string_view kKind = "a number";
  static double read(const RecipeValue& value);
  static Json write(double value) { return value; }
};
// Seconds as a number, or with a unit: 600, 600s, 10m. Must come to whole seconds.
template <>
struct RecipeType<std::chrono::seconds> {
  static constexpr std::string_view kKind = "whole seconds (600, 600s or 10m)";
  static std::chrono::seconds read(const RecipeValue& value);
  static Json write(std::chrono::seconds value) { return value.count(); }
};

// Settings that are somebody else's: any mapping, as JSON. A plain word is null, true, false or a number
// where YAML's core schema says so, text otherwise; a quoted one is text.
template <>
struct RecipeType<Json> {
  static constexpr std::string_view kKind = "a mapping";
  static Json read(const RecipeValue& value);
  static Json write(const Json& value) { return value; }
};

// The entries of a list, each with its own line and a name such as "run.tags[0]".
std::vector<RecipeValue> list_entries(const RecipeValue& value, std::string_view kind);

template <typename T>
struct RecipeType<std::vector<T>> {
  static constexpr std::string_view kKind = "a list";
  static std::vector<T> read(const RecipeValue& value) {
    std::vector<T> result;
    for (const RecipeValue& entry : list_entries(value, kKind)) result.push_back(RecipeType<T>::read(entry));
    return result;
  }
  static Json write(const std::vector<T>& value) { return value; }
};
template <typename T>
struct RecipeType<std::optional<T>> {
  static constexpr std::string_view kKind = RecipeType<T>::kKind;
  static std::optional<T> read(const RecipeValue& value) { return RecipeType<T>::read(value); }
  static Json write(const std::optional<T>& value) { return value ? RecipeType<T>::write(*value) : Json(); }
};

}  // namespace lockstep
