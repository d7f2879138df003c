// What is known about a recipe's keys: one row of a table says everything about its key.
//
// Owner is the struct that the values go into: Recipe, or DataSourceConfig for an entry of
// data.sources.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/base/recipe_value.h"

namespace lockstep {

// How a value gets from YAML into its member, and from there into JSON (null: not set).
template <typename Owner>
struct RecipeField {
  std::string kind;  // "a whole number"
  std::function<void(Owner&, const RecipeValue&)> read;
  std::function<Json(const Owner&)> write;
};

// Which of the type's values a key takes.
struct RecipeRange {
  std::string words;                             // completes the kind: " of at least 1"
  std::function<bool(const Json& value)> holds;  // absent: all
  std::vector<std::string> choices;              // when it is one of a few words
};
RecipeRange at_least(double lowest);
RecipeRange above(double bound);
RecipeRange one_of(std::vector<std::string> choices);

// Which of the values in range work today; the others are "not supported yet".
struct RecipeBuilt {
  std::function<bool(const Json& value)> holds;  // absent: all
  std::string way_out;                           // "use fp32"
};
RecipeBuilt only(const Json& value);
RecipeBuilt not_yet();  // no value of this key works

template <typename Owner>
struct RecipeKey {
  std::string path;  // "train.steps"
  RecipeField<Owner> field;
  RecipeRange range = {};
  RecipeBuilt built = {};
  // Why the key has no effect with the other settings ("with data.shape: text"); empty when it
  // has one. Absent: it always has.
  std::function<std::string(const Owner&)> idle = {};

  bool is_idle(const Owner& owner) const { return idle && !idle(owner).empty(); }
};

// The field that is a member: field(&Recipe::name) ...
template <typename Owner, typename T>
RecipeField<Owner> field(T Owner::*member) {
  const auto read = [=](Owner& owner, const RecipeValue& value) {
    owner.*member = RecipeType<T>::read(value);
  };
  const auto write = [=](const Owner& owner) { return RecipeType<T>::write(owner.*member); };
  return {std::string(RecipeType<T>::kKind), read, write};
}
// ... or a member's member: field(&Recipe::train, &TrainConfig::steps).
template <typename Owner, typename Group, typename T>
RecipeField<Owner> field(Group Owner::*group, T Group::*member) {
  const RecipeField<Group> inner = field(member);
  const auto read = [=](Owner& owner, const RecipeValue& value) { inner.read(owner.*group, value); };
  const auto write = [=](const Owner& owner) { return inner.write(owner.*group); };
  return {inner.kind, read, write};
}

}  // namespace lockstep
