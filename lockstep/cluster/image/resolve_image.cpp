#include "lockstep/cluster/image/resolve_image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/cluster/image/image_manifest.h"

namespace lockstep::cluster {
namespace {

// "linux/arm64" also finds an index's "linux/arm64/v8".
const PlatformManifest& entry_of(const ImageManifest& index, const std::string& platform,
                                 const std::string& what) {
  const auto& all = index.platforms;
  auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.platform == platform; });
  if (found == all.end()) {
    found = std::find_if(all.begin(), all.end(),
                         [&](const auto& entry) { return entry.platform.starts_with(platform + "/"); });
  }
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const auto& entry : all) names.push_back(entry.platform);
  throw ConfigError(fmt::format("image: {} has no image for {}, but for {}", what, platform,
                                names.empty() ? "none at all" : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace

ResolvedImage resolve_image(const ImageReference& image, const std::string& platform,
                            RegistryClient& registry) {
  const RegistryContent top = registry.manifest(image.digest.empty() ? image.tag : image.digest);
  ImageManifest manifest = parse_manifest(top, image.text());
  ResolvedImage resolved{
      .image = image, .is_index = manifest.is_index(), .manifest = top.digest, .platform = platform};
  resolved.image.digest = top.digest;
  if (resolved.is_index) {
    resolved.manifest = entry_of(manifest, platform, image.text()).digest;
    manifest = parse_manifest(registry.manifest(resolved.manifest), resolved.manifest);
    if (manifest.is_index()) {
      throw CommandError(
          fmt::format("image: {} for {} leads to another index, not to an image", image.text(), platform));
    }
  }
  resolved.config = manifest.config;
  const ImageConfig config = ImageConfig::parse(registry.blob(manifest.config).bytes, image.text());
  if (config.platform != platform && !platform.starts_with(config.platform + "/")) {
    throw ConfigError(
        fmt::format("image: {} is for {}, not for {}", image.text(), config.platform, platform));
  }
  resolved.created = config.created;
  resolved.components = config.components();
  return resolved;
}

ResolvedImage resolve_image(const ImageReference& image, const std::string& platform, CommandRunner& runner) {
  RegistryClient registry(image.origin(), image, registry_login(image.registry, runner));
  return resolve_image(image, platform, registry);
}

}  // namespace lockstep::cluster
