#include "lockstep/storage/arrow_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/base/library_folder.h"

namespace lockstep::storage {
namespace {

constexpr const char* kLibrary = "liblockstep_arrow.so";

StoreOpener registered_opener = nullptr;

std::string loader_words() {
  const char* words = dlerror();
  return words ? words : "unknown error";
}

}  // namespace

void register_arrow(StoreOpener opener) { registered_opener = opener; }

namespace internal {

StoreOpener load_arrow(const std::string& library) {
  if (!dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    throw ConfigError(
        fmt::format("storage: s3:// and gs:// need {}, which does not load: {}. Build Lockstep with Apache "
                    "Arrow (scripts/setup fetches it), or give the path of a folder",
                    library, loader_words()));
  }
  LOCKSTEP_CHECK(registered_opener != nullptr) << library;
  return registered_opener;
}

}  // namespace internal

std::unique_ptr<ObjectStore> open_with_arrow(const std::string& location) {
  static const StoreOpener opener = internal::load_arrow(library_folder() + "/" + kLibrary);
  return opener(location);
}

}  // namespace lockstep::storage
