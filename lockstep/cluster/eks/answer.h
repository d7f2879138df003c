// Fields of services' answers, which leave out what they do not have.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>

#include "lockstep/base/clock.h"
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
// "2026-01-02" of a time, which the command line gives as text (version 2) or as seconds since 1970 (version
// 1); "" where there is none.
inline std::string date_of(const Json& json, const std::string& key) {
  constexpr size_t kLength = 10;
  const Json time = json.is_object() && json.contains(key) ? json[key] : Json();
  if (!time.is_number()) return text_of(json, key).substr(0, kLength);
  return format_utc(std::chrono::system_clock::from_time_t(time.get<std::time_t>())).substr(0, kLength);
}
// Null where there is none, which has no entries.
inline const Json& part_of(const Json& json, const std::string& key) {
  static const Json nothing;
  return json.is_object() && json.contains(key) ? json[key] : nothing;
}

}  // namespace lockstep::cluster::eks
