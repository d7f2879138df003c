#include "lockstep/cluster/http_client.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "lockstep/base/check.h"

namespace lockstep::cluster {
namespace {

constexpr std::chrono::seconds kConnectTimeout{5};

std::string words(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
      return "no connection (refused, no such host, or no way to it)";
    case httplib::Error::Read:
      return "it took the request but did not answer, or not to the end, in time";
    case httplib::Error::Write:
      return "the connection broke while the request was sent";
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::SSLServerVerification:
      return fmt::format("TLS: {}", httplib::to_string(error));
    case httplib::Error::Canceled:
      return "the answer is too long";
    default:
      return httplib::to_string(error);
  }
}

HttpAnswer answer_from(const httplib::Response& response, std::string body) {
  HttpAnswer answer{response.status, std::move(body), {}};
  for (const auto& [name, value] : response.headers) {
    std::string key = name;
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string& joined = answer.headers[key];
    joined += (joined.empty() ? "" : ", ") + value;
  }
  return answer;
}

}  // namespace

std::string HttpAnswer::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

struct HttpClient::State {
  std::string subject, origin;
  httplib::Client client;
};

HttpClient::HttpClient(std::string subject, const std::string& origin)
    : state_(new State{std::move(subject), origin, httplib::Client(origin)}) {
  httplib::Client& client = state_->client;
  if (!client.is_valid()) throw ConfigError(fmt::format("{}: no http or https address", origin));
  client.set_connection_timeout(kConnectTimeout);
  client.set_url_encode(false);  // the bytes of a redirection are kept: its signature covers them
}

HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::send(const HttpRequest& request) {
  httplib::Client& client = state_->client;
  client.set_read_timeout(request.timeout);
  client.set_write_timeout(request.timeout);
  const httplib::Headers headers(request.headers.begin(), request.headers.end());
  std::string got;
  const auto result = [&] {
    if (request.method == "GET") {
      return client.Get(request.path, headers, [&](const char* bytes, size_t count) {
        got.append(bytes, count);
        return got.size() <= request.max_answer_bytes;
      });
    }
    if (request.method == "PUT") return client.Put(request.path, headers, request.body, request.content_type);
    LOCKSTEP_CHECK(request.method == "POST") << request.method;
    return client.Post(request.path, headers, request.body, request.content_type);
  }();
  if (!result) {
    throw NoAnswerError(fmt::format("{}: no answer from {} to {} {}: {}", state_->subject, state_->origin,
                                    request.method, request.path.substr(0, request.path.find('?')),
                                    words(result.error())));  // a query may hold a signature
  }
  return answer_from(*result, request.method == "GET" ? std::move(got) : result->body);
}

}  // namespace lockstep::cluster
