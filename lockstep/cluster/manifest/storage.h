// Where runs live: who may reach a bucket, and volumes of a file system.
#pragma once

#include <string>

#include "lockstep/base/json.h"
#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/manifest/manifest_file.h"

namespace lockstep::cluster::manifest {

constexpr const char* kFsxClaim = "fsx";

// An IAM policy that lets read, write and list "s3://bucket/prefix" and nothing else of the bucket.
Json bucket_policy(const std::string& uri, const std::string& region);

// A volume of the FSx for Lustre file system, and the claim that the pods mount at /fsx. Static: the file
// system is not made and not deleted here. (Driver: kubernetes-sigs/aws-fsx-csi-driver, docs/README.md.)
ManifestFile fsx_volume(const eks::Deployment& deployment);

}  // namespace lockstep::cluster::manifest
