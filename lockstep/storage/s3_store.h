// S3, and services that speak its protocol.
#pragma once

#include <memory>
#include <string>

#include "lockstep/storage/object_store.h"

namespace lockstep::storage {

// "s3://bucket/prefix?region=eu-west-1", "s3://bucket/prefix?endpoint_override=host:9000&scheme=http";
// docs/storage.md lists the options. Without a region or an endpoint the bucket is asked for its
// region.
//
// Credentials are found as the AWS SDK does: environment, profile, web identity, the agent of EKS Pod
// Identity or ECS, the instance's role. Those with an end are renewed shortly before it.
//
// Single requests are tried three times, so that one that fails does not cost a large value's other
// parts. A connection that moves no byte for 20 s is given up.
//
// Throws ConfigError for a location that cannot be, PermanentIoError when there is no such bucket or
// nothing gives credentials, IoError when the service does not answer.
std::unique_ptr<ObjectStore> open_s3(const std::string& location);

}  // namespace lockstep::storage
