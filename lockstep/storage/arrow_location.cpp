#include "lockstep/storage/arrow_location.h"

#include <fmt/core.h>

#include "lockstep/base/io_error.h"

namespace lockstep::storage {

arrow::util::Uri parse_location(const std::string& location) {
  arrow::util::Uri uri;
  if (!uri.Parse(location).ok()) {
    throw ConfigError(
        "storage: the location is no URI; write it as s3://bucket/prefix or gs://bucket/prefix");
  }
  const bool anonymous = uri.scheme() == "gs" && uri.username() == "anonymous";
  if (!uri.password().empty() || (!uri.username().empty() && !anonymous)) {
    throw ConfigError(
        fmt::format("storage: the location of {}://{} holds credentials, and locations are written into "
                    "records; give them through the environment",
                    uri.scheme(), uri.host()));
  }
  if (uri.host().empty()) {
    throw ConfigError(
        fmt::format("storage: {} names no bucket; write it as {}://bucket/prefix", location, uri.scheme()));
  }
  return uri;
}

void require_bucket(arrow::fs::FileSystem& files, const std::string& scheme, const std::string& bucket) {
  const std::string place = scheme + "://" + bucket;
  const auto info = files.GetFileInfo(bucket);
  if (is_forbidden(info.status())) return;
  if (!value_or_throw(info, "open", place).IsDirectory()) {
    throw PermanentIoError(fmt::format(
        "storage: cannot open {}: there is no such bucket; make it, or correct the location", place));
  }
}

}  // namespace lockstep::storage
