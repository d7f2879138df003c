// A real registry (Debian's docker-registry) on a port of loopback, in a process of its own, and what fills
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/base/process.h"
#include "lockstep/cluster/image/image_reference.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::cluster {

// What an image says about itself, for push().
struct PushedConfig {
  std::string architecture = "amd64";
  std::vector<std::string> environment;  // "CUDA_VERSION=13.0.2"
  Json labels = Json::object();
  std::vector<std::string> history;  // "RUN |1 EFA_VERSION=1.47.0 /bin/sh -c true"
  std::string created = "2026-01-02T03:04:05Z";
};

struct PushedImage {
  std::string manifest, config;  // digests
};

class RegistryServer {
 public:
  // `more` is added to its configuration: YAML, at the top level. Registries of one `folder` hold the same
  // images. Killed with this object, and with the thread that made it.
  explicit RegistryServer(const std::string& folder, const std::string& more = "",
                          const std::string& more_http = "");

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  ImageReference image(const std::string& tag_or_digest) const;  // of the repository "train/ray"

  // Into the repository "train/ray"; without a tag it is only known by its digest.
  PushedImage push(const PushedConfig& config, const std::string& tag = "");
  // An index of images that were pushed, "linux/amd64" and so on, with an attestation among them. Returns its
  // digest.
  std::string push_index(const std::vector<std::pair<std::string, PushedImage>>& images,
                         const std::string& tag);
  // Where the bytes of a digest lie on the disk.
  static std::string blob_file(const std::string& folder, const std::string& digest);

 private:
  std::string push_blob(const std::string& bytes);
  std::string push_manifest(const Json& manifest, const std::string& tag);

  TemporaryFolder own_;
  std::optional<Process> process_;
  int port_ = 0;
};

}  // namespace lockstep::cluster
