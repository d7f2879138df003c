// The library's stores, registered while it is being loaded.
#include "lockstep/storage/arrow_library.h"
#include "lockstep/storage/gcs_store.h"
#include "lockstep/storage/s3_store.h"

namespace lockstep::storage {
namespace {

std::unique_ptr<ObjectStore> open(const std::string& location) {
  return location.starts_with("s3://") ? open_s3(location) : open_gcs(location);
}

const bool registered = [] {
  register_arrow(open);
  return true;
}();

}  // namespace
}  // namespace lockstep::storage
