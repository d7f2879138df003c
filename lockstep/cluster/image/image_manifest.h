// What a registry keeps for a tag: the manifest of one image, or an index of the images for several
// platforms. OCI Image Specification 1.1 (image-index.md, manifest.md), and Docker's older names of the same
// (manifest list, schema 2).
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/image/registry_client.h"

namespace lockstep::cluster {

struct PlatformManifest {
  std::string platform;  // "linux/amd64", "linux/arm64/v8"
  std::string digest;
};

struct ImageManifest {
  std::vector<PlatformManifest>
      platforms;       // of an index, without what is no image (attestations); else empty
  std::string config;  // digest; empty of an index

  bool is_index() const { return config.empty(); }
};

// For the Accept header: all that parse() takes.
std::string manifest_media_types();

// Throws CommandError, naming `what`, for something else than a manifest.
ImageManifest parse_manifest(const RegistryContent& content, const std::string& what);

}  // namespace lockstep::cluster
