// Google Cloud Storage.
#pragma once

#include <memory>
#include <string>

#include "lockstep/storage/object_store.h"

namespace lockstep::storage {

// "gs://bucket/prefix"; docs/storage.md lists the options. Credentials are Google's application default
// ones; "gs://anonymous@bucket/prefix" sends none.
//
// Google's library itself repeats a request that fails, for up to 30 s.
//
// Throws ConfigError for a location that cannot be, PermanentIoError when there is no such bucket,
// IoError when the service does not answer.
std::unique_ptr<ObjectStore> open_gcs(const std::string& location);

}  // namespace lockstep::storage
