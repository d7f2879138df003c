#include "lockstep/cluster/image/image_reference.h"

#include <fmt/format.h>

#include <regex>

#include "lockstep/base/error.h"

namespace lockstep::cluster {
namespace {

constexpr const char* kDockerHub = "docker.io";

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw ConfigError(fmt::format(
      "image: \"{}\" is no image: {}. An image is [REGISTRY/]REPOSITORY[:TAG][@sha256:DIGEST], such as "
      "public.ecr.aws/deep-learning-containers/ray:v1.0",
      text, why));
}

bool names_registry(const std::string& part) {
  return part.find_first_of(".:") != part.npos || part == "localhost";
}

bool is_loopback(const std::string& registry) {
  static const std::regex kLoopback(R"((localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?)");
  return std::regex_match(registry, kLoopback);
}

}  // namespace

ImageReference ImageReference::parse(const std::string& text) {
  static const std::regex kRegistry(
      R"((\[[0-9A-Fa-f:]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)(:[0-9]{1,5})?)");
  static const std::regex kRepository(
      R"([a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*)");
  static const std::regex kTag(R"([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})");
  ImageReference image;
  std::string rest = text;
  if (const size_t at = rest.find('@'); at != rest.npos) {
    image.digest = rest.substr(at + 1);
    rest.resize(at);
    if (!is_digest(image.digest)) {
      refuse(text, fmt::format("\"{}\" is not sha256: and 64 hex digits", image.digest));
    }
  }
  if (const size_t slash = rest.find('/'); slash != rest.npos && names_registry(rest.substr(0, slash))) {
    image.registry = rest.substr(0, slash);
    rest.erase(0, slash + 1);
    if (!std::regex_match(image.registry, kRegistry)) {
      refuse(text, fmt::format("\"{}\" is no registry's HOST[:PORT]", image.registry));
    }
  } else {
    image.registry = kDockerHub;
  }
  if (const size_t colon = rest.rfind(':'); colon != rest.npos) {
    image.tag = rest.substr(colon + 1);
    rest.resize(colon);
    if (!std::regex_match(image.tag, kTag)) refuse(text, fmt::format("\"{}\" is no tag", image.tag));
  }
  if (image.registry == kDockerHub && rest.find('/') == rest.npos) rest = "library/" + rest;
  image.repository = rest;
  if (!std::regex_match(image.repository, kRepository)) {
    refuse(text, fmt::format("\"{}\" is no repository: lower-case letters, digits, and between them . _ - /",
                             image.repository));
  }
  if (image.tag.empty() && image.digest.empty()) image.tag = "latest";
  return image;
}

std::string ImageReference::text() const { return name() + (digest.empty() ? ":" + tag : "@" + digest); }

std::string ImageReference::origin() const {
  if (registry == kDockerHub) return "https://registry-1.docker.io";
  return (is_loopback(registry) ? "http://" : "https://") + registry;
}

bool is_digest(const std::string& text) {
  static const std::regex kDigest("sha256:[0-9a-f]{64}");
  return std::regex_match(text, kDigest);
}

bool is_frozen_tag(const std::string& tag) {
  static const std::regex kFrozen(R"((.*-)?v[0-9]+\.[0-9]+\.[0-9]+)");
  return std::regex_match(tag, kFrozen);
}

}  // namespace lockstep::cluster
