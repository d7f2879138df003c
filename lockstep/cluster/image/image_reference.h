// The name of a container image, as Docker and Kubernetes write it:
//
//   [REGISTRY/]REPOSITORY[:TAG][@sha256:DIGEST]
//
// The first part is a registry when it holds "." or ":" or is "localhost"; without one it is Docker Hub,
// whose official images are in "library/". Grammar: github.com/distribution/reference, regexp.go.
#pragma once

#include <string>

namespace lockstep::cluster {

struct ImageReference {
  std::string registry;    // "public.ecr.aws", "127.0.0.1:5000"
  std::string repository;  // "deep-learning-containers/ray"
  std::string tag;         // empty when not given
  std::string digest;      // "sha256:" and 64 hex digits; empty when not given

  // Throws ConfigError. Without tag and digest the tag is "latest", as everywhere.
  static ImageReference parse(const std::string& text);

  // "REGISTRY/REPOSITORY".
  std::string name() const { return registry + "/" + repository; }
  // "REGISTRY/REPOSITORY@DIGEST" where there is a digest, else with ":TAG".
  std::string text() const;
  // The server of its API. Registries on this machine's loopback speak plain HTTP, all others https.
  std::string origin() const;
};

// "sha256:" and 64 lower-case hex digits.
bool is_digest(const std::string& text);

// What a tag promises, by the custom of the images that Lockstep runs on: "vX.Y.Z", alone or after a "-", is
// published once and then stays; "vX.Y" and all others are moved to newer images.
bool is_frozen_tag(const std::string& tag);

}  // namespace lockstep::cluster
