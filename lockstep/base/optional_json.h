// Values that may be absent, as JSON: null.
#pragma once

#include <optional>
#include <string>

#include "lockstep/base/json.h"

namespace lockstep {

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// Throws as Json::get when it is neither null nor a T.
template <typename T>
std::optional<T> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

}  // namespace lockstep
