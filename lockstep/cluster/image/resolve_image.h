// From a tag, which may be moved, to the digest that names these bytes for good.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/command_runner.h"
#include "lockstep/cluster/image/image_config.h"
#include "lockstep/cluster/image/registry_client.h"

namespace lockstep::cluster {

struct ResolvedImage {
  ImageReference image;  // with the digest of what the tag names: an index, where there is one
  bool is_index = false;
  std::string manifest;  // digest of the platform's image; image.digest where there is no index
  std::string config;    // digest of its config
  std::string platform;  // "linux/amd64"
  std::string created;   // when it was built
  std::vector<ImageComponent> components;
};

// What `image`'s digest, else its tag, is now, for `platform`. Two or three requests. Errors:
// RegistryClient's, and ConfigError when there is no image for the platform.
ResolvedImage resolve_image(const ImageReference& image, const std::string& platform,
                            RegistryClient& registry);
// The same from the image's own registry, with this machine's login, which a credential helper may give: it
// is started by `runner`.
ResolvedImage resolve_image(const ImageReference& image, const std::string& platform, CommandRunner& runner);

}  // namespace lockstep::cluster
