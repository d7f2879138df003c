#include <fmt/core.h>

#include "lockstep/base/error.h"
#include "lockstep/storage/local_store.h"

namespace lockstep::storage {

std::unique_ptr<ObjectStore> open_store(const std::string& location) {
  if (location.empty()) throw ConfigError("storage: the location is empty; give the path of a folder");
  if (location.find("://") != std::string::npos) {
    throw ConfigError(
        fmt::format("storage: {} is not supported yet; give the path of a folder on this machine", location));
  }
  return std::make_unique<LocalStore>(location);
}

}  // namespace lockstep::storage
