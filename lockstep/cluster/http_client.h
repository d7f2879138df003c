// Requests to one HTTP server, by cpp-httplib, which http_client.cpp alone includes.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "lockstep/base/error.h"

namespace lockstep::cluster {

struct HttpRequest {
  std::string method;  // GET, PUT, POST
  std::string path;    // "/api/version"
  std::string body;    // of PUT and POST
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers;
  std::chrono::seconds timeout{10};  // without a byte from the server; connecting has five seconds
  // An answer to GET that is longer is broken off.
  uint64_t max_answer_bytes = uint64_t{1} << 30;
};

struct HttpAnswer {
  int status = 0;
  std::string body;
  // Names in lower case; the values of one that came several times are joined with ", ".
  std::map<std::string, std::string> headers;

  std::string header(const std::string& name) const;  // empty when it did not come
};

// Nobody answered, or not to the end: whether the request was carried out is not known.
class NoAnswerError : public CommandError {
 public:
  using CommandError::CommandError;
};

class HttpClient {
 public:
  // `origin`: "http://HOST:PORT" or https. `subject` begins the messages of errors: "ray".
  HttpClient(std::string subject, const std::string& origin);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  // Throws NoAnswerError, naming the origin and what went wrong. One connection a request. A redirection is
  // an answer like others.
  HttpAnswer send(const HttpRequest& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::cluster
