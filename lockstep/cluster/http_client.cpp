#include "lockstep/cluster/http_client.h"

#include <fmt/format.h>
#include <httplib.h>

#include "lockstep/base/check.h"

namespace lockstep::cluster {
namespace {

constexpr std::chrono::seconds kConnectTimeout{5};

std::string words(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
      return "no connection (refused, no such host, or no way to it)";
    case httplib::Error::Read:
      return "it took the request but did not answer in time";
    case httplib::Error::Write:
      return "the connection broke while the request was sent";
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::SSLServerVerification:
      return fmt::format("TLS: {}", httplib::to_string(error));
    default:
      return httplib::to_string(error);
  }
}

}  // namespace

struct HttpClient::State {
  std::string origin;
  httplib::Client client;
};

HttpClient::HttpClient(const std::string& origin, const std::string& bearer_token)
    : state_(new State{origin, httplib::Client(origin)}) {
  httplib::Client& client = state_->client;
  if (!client.is_valid()) throw ConfigError(fmt::format("{}: no http or https address", origin));
  client.set_connection_timeout(kConnectTimeout);
  if (!bearer_token.empty()) client.set_bearer_token_auth(bearer_token);
}

HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::send(const HttpRequest& request) {
  httplib::Client& client = state_->client;
  client.set_read_timeout(request.timeout);
  client.set_write_timeout(request.timeout);
  const auto result = [&] {
    if (request.method == "GET") return client.Get(request.path);
    if (request.method == "PUT") return client.Put(request.path, request.body, request.content_type);
    LOCKSTEP_CHECK(request.method == "POST") << request.method;
    return client.Post(request.path, request.body, request.content_type);
  }();
  if (!result) {
    throw NoAnswerError(fmt::format("ray: no answer from {} to {} {}: {}", state_->origin, request.method,
                                    request.path, words(result.error())));
  }
  return {result->status, result->body};
}

}  // namespace lockstep::cluster
