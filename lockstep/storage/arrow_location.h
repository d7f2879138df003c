// What locations of object stores have in common.
#pragma once

#include <arrow/filesystem/filesystem.h>
#include <arrow/result.h>
#include <arrow/util/uri.h>

#include <string>

#include "lockstep/base/error.h"
#include "lockstep/storage/arrow_error.h"

namespace lockstep::storage {

// Throws ConfigError for what is no URI, names no bucket, or holds a key or password: locations are
// written into records and logs.
arrow::util::Uri parse_location(const std::string& location);

// Throws PermanentIoError when the bucket does not exist, IoError when the service does not answer.
// Credentials that may not ask for the bucket itself may still be enough for what lies in it.
void require_bucket(arrow::fs::FileSystem& files, const std::string& scheme, const std::string& bucket);

// Throws ConfigError for options that cannot be, IoError when the service had to be asked and failed.
template <typename T>
T options_or_throw(arrow::Result<T> options, const std::string& place) {
  if (options.status().IsInvalid()) {
    throw ConfigError("storage: " + place + ": " + options.status().message());
  }
  return value_or_throw(std::move(options), "open", place);
}

}  // namespace lockstep::storage
