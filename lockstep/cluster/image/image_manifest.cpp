#include "lockstep/cluster/image/image_manifest.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::cluster {
namespace {

constexpr const char* kIndexTypes[] = {"application/vnd.oci.image.index.v1+json",
                                       "application/vnd.docker.distribution.manifest.list.v2+json"};
constexpr const char* kImageTypes[] = {"application/vnd.oci.image.manifest.v1+json",
                                       "application/vnd.docker.distribution.manifest.v2+json"};

// The digest at `json`; throws Json::exception for none.
std::string digest_at(const Json& json) {
  const auto digest = json.at("digest").get<std::string>();
  return is_digest(digest) ? digest : throw CommandError(fmt::format("\"{}\" is no digest", digest));
}

std::vector<PlatformManifest> platforms_of(const Json& manifests) {
  std::vector<PlatformManifest> platforms;
  for (const Json& entry : manifests) {
    const Json& platform = entry.at("platform");
    const auto os = platform.at("os").get<std::string>();
    if (os == "unknown") continue;  // an attestation beside the images
    const std::string variant = platform.value("variant", "");
    platforms.push_back({fmt::format("{}/{}{}", os, platform.at("architecture").get<std::string>(),
                                     variant.empty() ? "" : "/" + variant),
                         digest_at(entry)});
  }
  return platforms;
}

}  // namespace

std::string manifest_media_types() {
  std::string types;
  for (const char* type : kIndexTypes) types += (types.empty() ? "" : ", ") + std::string(type);
  for (const char* type : kImageTypes) types += std::string(", ") + type;
  return types;
}

ImageManifest parse_manifest(const RegistryContent& content, const std::string& what) {
  try {
    const Json json = Json::parse(content.bytes);
    // An OCI manifest may leave its type to the header.
    const std::string type = json.value("mediaType", content.media_type);
    for (const char* index : kIndexTypes) {
      if (type == index) return {.platforms = platforms_of(json.at("manifests")), .config = ""};
    }
    for (const char* image : kImageTypes) {
      if (type == image) return {.platforms = {}, .config = digest_at(json.at("config"))};
    }
    throw CommandError(fmt::format("its type is \"{}\"", type));
  } catch (const std::exception& error) {
    throw CommandError(fmt::format("image: what the registry has for {} is no manifest of an image: {}", what,
                                   error.what()));
  }
}

}  // namespace lockstep::cluster
