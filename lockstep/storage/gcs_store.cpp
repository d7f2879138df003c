#include "lockstep/storage/gcs_store.h"

#include <arrow/filesystem/gcsfs.h>

#include "lockstep/storage/arrow_location.h"
#include "lockstep/storage/arrow_store.h"

namespace lockstep::storage {
namespace {

constexpr double kRetrySeconds = 30;

}  // namespace

std::unique_ptr<ObjectStore> open_gcs(const std::string& location) {
  const arrow::util::Uri uri = parse_location(location);
  std::string root;
  const std::string place = "gs://" + uri.host();
  auto options = options_or_throw(arrow::fs::GcsOptions::FromUri(uri, &root), place);
  if (!options.retry_limit_seconds) options.retry_limit_seconds = kRetrySeconds;

  const auto files = options_or_throw(arrow::fs::GcsFileSystem::Make(options), place);
  require_bucket(*files, "gs", uri.host());
  return std::make_unique<ArrowStore>(files, "gs", root);
}

}  // namespace lockstep::storage
