// Reads from a container registry: OCI Distribution Specification 1.1, "Pulling manifests" and "Pulling
// blobs". Tokens: distribution.github.io/distribution/spec/auth/token.
#pragma once

#include <optional>
#include <string>

#include "lockstep/cluster/http_client.h"
#include "lockstep/cluster/http_url.h"
#include "lockstep/cluster/image/image_reference.h"
#include "lockstep/cluster/image/registry_login.h"

namespace lockstep::cluster {

struct RegistryContent {
  std::string digest;      // of `bytes`, which were hashed
  std::string media_type;  // without parameters
  std::string bytes;
};

// One repository. Every answer is hashed: what comes is what was asked for, or an error. Errors begin with
// "image:" and are ConfigError for a tag, digest or repository that is not there and for a refused login,
// NoAnswerError for a registry that is down or breaks off, CommandError for one that answers with anything
// else.
class RegistryClient {
 public:
  // `origin`: ImageReference::origin().
  RegistryClient(std::string origin, const ImageReference& image, std::optional<RegistryLogin> login);

  // `reference`: a tag or a digest. At most 4 MiB, as the specification has it.
  RegistryContent manifest(const std::string& reference);
  // At most 16 MiB: configs, not layers. Registries redirect to where they store it; the login stays here.
  RegistryContent blob(const std::string& digest);

 private:
  HttpAnswer get(const std::string& path, const std::string& accept, uint64_t max_bytes);
  HttpAnswer follow(HttpUrl from, HttpAnswer answer, uint64_t max_bytes);
  // The Authorization header that a 401 asks for.
  std::string authorization_for(const HttpAnswer& refused);
  std::string token_from(const std::string& realm, const std::string& service, const std::string& scope);
  std::string basic() const;
  // Throws unless the status is 200. `what`: "tag v1.0".
  void require_found(const HttpAnswer& answer, const std::string& what) const;

  std::string origin_, name_, repository_;
  std::optional<RegistryLogin> login_;
  std::string authorization_;  // that worked last
};

}  // namespace lockstep::cluster
