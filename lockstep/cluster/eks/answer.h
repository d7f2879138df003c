// Fields of services' answers, which leave out what they do not have.
#pragma once

#include <cstdint>
#include <string>

#include "lockstep/base/json.h"

namespace lockstep::cluster::eks {

// "" where there is no such text.
inline std::string text_of(const Json& json, const std::string& key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}
// 0 where there is no such number.
inline int64_t number_of(const Json& json, const std::string& key) {
  return json.is_object() && json.contains(key) && json[key].is_number() ? json[key].get<int64_t>() : 0;
}
// Null where there is none, which has no entries.
inline const Json& part_of(const Json& json, const std::string& key) {
  static const Json nothing;
  return json.is_object() && json.contains(key) ? json[key] : nothing;
}

}  // namespace lockstep::cluster::eks
