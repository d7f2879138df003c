#include <fmt/core.h>

#include "lockstep/base/error.h"
#include "lockstep/storage/arrow_library.h"
#include "lockstep/storage/local_store.h"

namespace lockstep::storage {

std::unique_ptr<ObjectStore> open_store(const std::string& location) {
  if (location.empty()) throw ConfigError("storage: the location is empty; give the path of a folder");
  const size_t scheme_end = location.find("://");
  if (scheme_end == std::string::npos) return std::make_unique<LocalStore>(location);
  const std::string scheme = location.substr(0, scheme_end);
  if (scheme == "s3" || scheme == "gs") return open_with_arrow(location);
  throw ConfigError(
      fmt::format("storage: {}:// is no kind of storage that is known; give the path of a folder, "
                  "s3://bucket/prefix or gs://bucket/prefix",
                  scheme));
}

}  // namespace lockstep::storage
