// Failures of Apache Arrow's file systems as IoError.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <string>
#include <string_view>
#include <utility>

namespace lockstep::storage {

// True for "no such object".
bool is_not_there(const arrow::Status& status);

// True for "you may not".
bool is_forbidden(const arrow::Status& status);

// Throws "storage: cannot <action> <place>: <reason>; <way out>". PermanentIoError where the service
// says that it will not do this for us (no such bucket, refused credentials), IoError for the rest.
// Arrow tells the service's error only in its text, which is read here.
[[noreturn]] void throw_arrow_error(const arrow::Status& status, std::string_view action,
                                    std::string_view place);

inline void throw_if_failed(const arrow::Status& status, std::string_view action, std::string_view place) {
  if (!status.ok()) throw_arrow_error(status, action, place);
}

template <typename T>
T value_or_throw(arrow::Result<T> result, std::string_view action, std::string_view place) {
  throw_if_failed(result.status(), action, place);
  return std::move(result).ValueUnsafe();
}

}  // namespace lockstep::storage
