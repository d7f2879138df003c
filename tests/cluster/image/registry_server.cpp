#include "registry_server.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "lockstep/base/check.h"
#include "lockstep/base/sha256.h"
#include "lockstep/cluster/http_client.h"
#include "lockstep/cluster/http_url.h"

namespace lockstep::cluster {
namespace {

constexpr const char* kRepository = "train/ray";
constexpr const char* kImageType = "application/vnd.docker.distribution.manifest.v2+json";
constexpr const char* kIndexType = "application/vnd.oci.image.index.v1+json";

std::string digest_of(const std::string& bytes) { return "sha256:" + sha256_hex(bytes); }

Json descriptor(const std::string& type, const std::string& digest, size_t size) {
  return {{"mediaType", type}, {"size", size}, {"digest", digest}};
}

}  // namespace

RegistryServer::RegistryServer(const std::string& folder, const std::string& more,
                               const std::string& more_http) {
  std::ofstream(own_ / "config.yml") << fmt::format(
      "version: 0.1\nlog: {{level: info, accesslog: {{disabled: true}}}}\nstorage:\n  filesystem: "
      "{{rootdirectory: "
      "{}}}\nhttp:\n  addr: 127.0.0.1:0\n{}{}",
      folder, more_http, more);
  process_ = Process::start({.argv = {"docker-registry", "serve", own_ / "config.yml"},
                             .standard_output = Output::file(own_ / "log"),
                             .standard_error = Output::with_stdout()});
  while (port_ == 0) {
    const std::string log = read_file(own_ / "log");
    LOCKSTEP_CHECK(!process_->poll()) << "docker-registry ended at once: " << log;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::string words = "listening on 127.0.0.1:";
    const size_t at = log.find(words);
    if (at != log.npos && log.find_first_not_of("0123456789", at + words.size()) != log.npos)
      port_ = std::stoi(log.substr(at + words.size()));
  }
}

ImageReference RegistryServer::image(const std::string& tag_or_digest) const {
  return ImageReference::parse(
      fmt::format("{}/{}{}{}", address(), kRepository, is_digest(tag_or_digest) ? "@" : ":", tag_or_digest));
}

PushedImage RegistryServer::push(const PushedConfig& config, const std::string& tag) {
  Json history = Json::array();
  for (const std::string& step : config.history) history.push_back({{"created_by", step}});
  const std::string bytes = Json{
      {"os", "linux"},
      {"architecture", config.architecture},
      {"created", config.created},
      {"config", {{"Env", config.environment}, {"Labels", config.labels}}},
      {"rootfs", {{"type", "layers"}, {"diff_ids", Json::array()}}},
      {"history", history}}.dump();
  PushedImage pushed{.manifest = "", .config = push_blob(bytes)};
  pushed.manifest = push_manifest(
      {{"schemaVersion", 2},
       {"mediaType", kImageType},
       {"config", descriptor("application/vnd.docker.container.image.v1+json", pushed.config, bytes.size())},
       {"layers", Json::array()}},
      tag);
  return pushed;
}

std::string RegistryServer::push_index(const std::vector<std::pair<std::string, PushedImage>>& images,
                                       const std::string& tag) {
  Json manifests = Json::array();
  for (const auto& [platform, image] : images) {
    Json entry = descriptor(kImageType, image.manifest, 1);
    entry["platform"] = {{"os", platform.substr(0, platform.find('/'))},
                         {"architecture", platform.substr(platform.find('/') + 1)}};
    manifests.push_back(entry);
  }
  Json attestation = manifests.at(0);
  attestation["platform"] = {{"os", "unknown"}, {"architecture", "unknown"}};
  manifests.insert(manifests.begin(), attestation);
  return push_manifest({{"schemaVersion", 2}, {"mediaType", kIndexType}, {"manifests", manifests}}, tag);
}

std::string RegistryServer::blob_file(const std::string& folder, const std::string& digest) {
  const std::string hex = digest.substr(7);
  return fmt::format("{}/docker/registry/v2/blobs/sha256/{}/{}/data", folder, hex.substr(0, 2), hex);
}

std::string RegistryServer::push_blob(const std::string& bytes) {
  const std::string origin = "http://" + address();
  HttpClient client("push", origin);
  const HttpAnswer begun =
      client.send({.method = "POST", .path = fmt::format("/v2/{}/blobs/uploads/", kRepository)});
  LOCKSTEP_CHECK(begun.status == 202) << begun.status << begun.body;
  const auto place = HttpUrl{origin, "/"}.redirected(begun.header("location"));
  const std::string digest = digest_of(bytes);
  const HttpAnswer done = client.send(
      {.method = "PUT",
       .path = place->path + (place->path.find('?') == place->path.npos ? "?" : "&") + "digest=" + digest,
       .body = bytes,
       .content_type = "application/octet-stream"});
  LOCKSTEP_CHECK(done.status == 201) << done.status << done.body;
  return digest;
}

std::string RegistryServer::push_manifest(const Json& manifest, const std::string& tag) {
  const std::string bytes = manifest.dump(), digest = digest_of(bytes);
  const HttpAnswer answer =
      HttpClient("push", "http://" + address())
          .send({.method = "PUT",
                 .path = fmt::format("/v2/{}/manifests/{}", kRepository, tag.empty() ? digest : tag),
                 .body = bytes,
                 .content_type = manifest.at("mediaType").get<std::string>()});
  LOCKSTEP_CHECK(answer.status == 201) << answer.status << answer.body;
  return digest;
}

}  // namespace lockstep::cluster
