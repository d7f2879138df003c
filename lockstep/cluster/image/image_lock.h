// images/NAME.lock.yaml: the image that a cluster runs, by digest, and what is in it. Also read where it is
// JSON, and with any key but `version` left out.
//
//   version: 1
//   image: public.ecr.aws/deep-learning-containers/ray@sha256:...
//   libraries: {nccl: "2.28.9"}
//
// Fields: docs/commands/image.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/image/acceptance.h"
#include "lockstep/cluster/image/resolve_image.h"

namespace lockstep::cluster {

// Names that `libraries` may hold.
const std::vector<std::string>& lockable_libraries();

struct ImageLock {
  std::string image;   // "repository@sha256:...": what manifests name; may be empty in a lock written by hand
  std::string tag;     // that was resolved; empty where a digest was given
  std::string locked;  // when, RFC 3339
  std::string platform;  // "linux/amd64"
  std::string manifest;  // digest of the platform's image
  std::string config;    // digest of its config
  std::string created;   // when the image was built
  // What the image states about itself: name -> version, empty when not stated.
  std::map<std::string, std::string> components;
  // What was found in a container of it: name -> version, or its first numbers. `lockstep doctor node`
  // compares these.
  std::map<std::string, std::string> libraries;
  std::optional<Acceptance> accepted;  // the evidence on which the lock came to be; of `image lock` none

  static ImageLock of(const ResolvedImage& image, const std::string& now);

  // Throws ConfigError with the path for a file that is not there, is no lock, or names a library or
  // component that is not known.
  static ImageLock load(const std::string& path);
  // The fields in the file's order; those that are empty are left out.
  Json to_json() const;
  // Replaces the file whole and makes its folder. Throws IoError.
  void save(const std::string& path) const;
};

// Whether `found` is `locked` or begins with its numbers: "2.28" takes 2.28.9, not 2.2 or 2.281.
bool version_matches(const std::string& locked, const std::string& found);

}  // namespace lockstep::cluster
