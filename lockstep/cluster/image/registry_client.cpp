#include "lockstep/cluster/image/registry_client.h"

#include <fmt/format.h>

#include "lockstep/base/json.h"
#include "lockstep/base/sha256.h"
#include "lockstep/base/split.h"
#include "lockstep/cluster/image/auth_challenge.h"
#include "lockstep/cluster/image/base64.h"
#include "lockstep/cluster/image/image_manifest.h"

namespace lockstep::cluster {
namespace {

constexpr const char* kSubject = "image";
constexpr uint64_t kMaxManifestBytes = uint64_t{4} << 20;
constexpr uint64_t kMaxBlobBytes = uint64_t{16} << 20;
constexpr int kMaxRedirections = 5;

bool is_redirection(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// The registry's own words: {"errors": [{"code", "message"}]}.
std::string words_of(const HttpAnswer& answer) {
  const Json body = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  std::string words = fmt::format("status {}", answer.status);
  if (!body.is_object() || !body.value("errors", Json()).is_array() || body.at("errors").empty())
    return words;
  const Json& first = body.at("errors").at(0);
  for (const char* key : {"code", "message"}) {
    if (first.is_object() && first.value(key, Json()).is_string())
      words += ", " + first.at(key).get<std::string>();
  }
  return words;
}

RegistryContent content_of(HttpAnswer answer) {
  RegistryContent content{"sha256:" + sha256_hex(answer.body), answer.header("content-type"),
                          std::move(answer.body)};
  content.media_type = trimmed(content.media_type.substr(0, content.media_type.find(';')));
  return content;
}

}  // namespace

RegistryClient::RegistryClient(std::string origin, const ImageReference& image,
                               std::optional<RegistryLogin> login)
    : origin_(std::move(origin)),
      name_(image.name()),
      repository_(image.repository),
      login_(std::move(login)) {}

RegistryContent RegistryClient::manifest(const std::string& reference) {
  const bool by_digest = is_digest(reference);
  const std::string what = (by_digest ? "digest " : "tag ") + reference;
  HttpAnswer answer = get(fmt::format("/v2/{}/manifests/{}", repository_, reference), manifest_media_types(),
                          kMaxManifestBytes);
  require_found(answer, what);
  const std::string promised = by_digest ? reference : answer.header("docker-content-digest");
  RegistryContent content = content_of(std::move(answer));
  if (!promised.empty() && promised != content.digest) {
    throw CommandError(
        fmt::format("image: {} gave for {} of {} a manifest whose SHA-256 is {}, not {}: damaged there or on "
                    "the way, and not taken",
                    origin_, what, name_, content.digest, promised));
  }
  return content;
}

RegistryContent RegistryClient::blob(const std::string& digest) {
  HttpAnswer answer = get(fmt::format("/v2/{}/blobs/{}", repository_, digest), "*/*", kMaxBlobBytes);
  require_found(answer, "blob " + digest);
  RegistryContent content = content_of(std::move(answer));
  if (content.digest != digest) {
    throw CommandError(fmt::format(
        "image: {} gave for blob {} of {} bytes whose SHA-256 is {}: damaged there or on the way, "
        "and not taken",
        origin_, digest, name_, content.digest));
  }
  return content;
}

HttpAnswer RegistryClient::get(const std::string& path, const std::string& accept, uint64_t max_bytes) {
  HttpRequest request{
      .method = "GET", .path = path, .headers = {{"Accept", accept}}, .max_answer_bytes = max_bytes};
  if (!authorization_.empty()) request.headers["Authorization"] = authorization_;
  HttpClient client(kSubject, origin_);
  HttpAnswer answer = client.send(request);
  if (answer.status == 401) {  // none was shown, or the token's time is over
    authorization_ = authorization_for(answer);
    request.headers["Authorization"] = authorization_;
    answer = client.send(request);
  }
  return is_redirection(answer.status) ? follow({origin_, path}, std::move(answer), max_bytes) : answer;
}

HttpAnswer RegistryClient::follow(HttpUrl from, HttpAnswer answer, uint64_t max_bytes) {
  for (int hop = 0; is_redirection(answer.status); ++hop) {
    const std::string location = answer.header("location");
    const auto to = from.redirected(location);
    if (!to || hop == kMaxRedirections) {
      throw CommandError(fmt::format("image: {} redirects {}", from.origin,
                                     to ? fmt::format("more than {} times", kMaxRedirections)
                                        : fmt::format("to \"{}\", which is no address", location)));
    }
    if (from.origin.starts_with("https:") && !to->origin.starts_with("https:")) {
      throw CommandError(fmt::format("image: {} redirects to {}, which is not encrypted: not followed",
                                     from.origin, to->origin));
    }
    // Without our Authorization: where it leads has a signature in its address, and is none of the login's
    // business.
    answer = HttpClient(kSubject, to->origin)
                 .send({.method = "GET", .path = to->path, .max_answer_bytes = max_bytes});
    from = *to;
  }
  return answer;
}

std::string RegistryClient::authorization_for(const HttpAnswer& refused) {
  for (const AuthChallenge& challenge : parse_challenges(refused.header("www-authenticate"))) {
    if (challenge.scheme == "bearer") {
      return "Bearer " + token_from(challenge.parameter("realm"), challenge.parameter("service"),
                                    challenge.parameter("scope"));
    }
    if (challenge.scheme == "basic" && login_) return basic();
  }
  throw ConfigError(fmt::format("image: {} asks for a login ({}): docker login {}, which Lockstep then uses",
                                name_, words_of(refused), name_.substr(0, name_.find('/'))));
}

std::string RegistryClient::token_from(const std::string& realm, const std::string& service,
                                       const std::string& scope) {
  const auto url = HttpUrl::parse(realm);
  if (!url)
    throw CommandError(
        fmt::format("image: {} asks for a token from \"{}\", which is no address", origin_, realm));
  if (origin_.starts_with("https:") && !url->origin.starts_with("https:")) {
    throw CommandError(fmt::format("image: {} asks for a token from {}, which is not encrypted: not asked",
                                   origin_, url->origin));
  }
  HttpRequest request{.method = "GET", .path = url->path, .max_answer_bytes = kMaxManifestBytes};
  request.path +=
      (request.path.find('?') == request.path.npos ? "?service=" : "&service=") + percent_encoded(service);
  request.path += "&scope=" + percent_encoded(scope.empty() ? "repository:" + repository_ + ":pull" : scope);
  if (login_) request.headers["Authorization"] = basic();
  const HttpAnswer answer = HttpClient(kSubject, url->origin).send(request);
  if (answer.status == 401 || answer.status == 403) {
    throw ConfigError(fmt::format("image: {} gives no token for {} {} ({}): docker login {}", url->origin,
                                  name_, login_ ? "to the login from " + login_->source : "without a login",
                                  words_of(answer), name_.substr(0, name_.find('/'))));
  }
  const Json body = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  for (const char* key : {"token", "access_token"}) {  // two names of the same
    if (answer.status == 200 && body.is_object() && body.value(key, Json()).is_string()) {
      return body.at(key).get<std::string>();
    }
  }
  throw CommandError(
      fmt::format("image: {} answered {} without a token ({})", url->origin, url->path, words_of(answer)));
}

std::string RegistryClient::basic() const {
  return "Basic " + base64_encoded(login_->user + ":" + login_->password);
}

void RegistryClient::require_found(const HttpAnswer& answer, const std::string& what) const {
  if (answer.status == 200) return;
  if (answer.status == 404) {
    throw ConfigError(fmt::format("image: {} has no {} ({})", name_, what, words_of(answer)));
  }
  if (answer.status == 401 || answer.status == 403) {
    throw ConfigError(fmt::format("image: {} refuses {} {} ({}): docker login {}", name_, what,
                                  login_ ? "to the login from " + login_->source : "without a login",
                                  words_of(answer), name_.substr(0, name_.find('/'))));
  }
  throw CommandError(
      fmt::format("image: {} answered for {} of {} with {}", origin_, what, name_, words_of(answer)));
}

}  // namespace lockstep::cluster
