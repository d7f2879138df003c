// s3:// and gs:// are reached through Apache Arrow. What needs it is liblockstep_arrow.so, beside
// liblockstep.so and loaded with the first such location: what stays on paths starts without it,
// and on machines that do not have it.
#pragma once

#include <memory>
#include <string>

#include "lockstep/storage/object_store.h"

namespace lockstep::storage {

// The store at an "s3://" or "gs://" location (s3_store.h, gcs_store.h). Any thread. Throws
// ConfigError with the loader's words and the way out when the library does not load.
std::unique_ptr<ObjectStore> open_with_arrow(const std::string& location);

using StoreOpener = std::unique_ptr<ObjectStore> (*)(const std::string& location);
// The library calls this while it is being loaded.
void register_arrow(StoreOpener opener);

namespace internal {
// Loads the library named; for tests.
StoreOpener load_arrow(const std::string& library);
}  // namespace internal

}  // namespace lockstep::storage
