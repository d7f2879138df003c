// Requests to one HTTP server, by cpp-httplib, which http_client.cpp alone includes.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "lockstep/base/error.h"

namespace lockstep::cluster {

struct HttpRequest {
  std::string method;  // GET, PUT, POST
  std::string path;    // "/api/version"
  std::string body;    // of PUT and POST
  std::string content_type = "application/json";
  std::chrono::seconds timeout{10};  // without a byte from the server; connecting has five seconds
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// Nobody answered, or not to the end: whether the request was carried out is not known.
class NoAnswerError : public CommandError {
 public:
  using CommandError::CommandError;
};

class HttpClient {
 public:
  // `origin`: "http://HOST:PORT" or https. `bearer_token` is sent with each request unless it is empty.
  HttpClient(const std::string& origin, const std::string& bearer_token);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  // Throws NoAnswerError, naming the origin and what went wrong. One connection a request.
  HttpAnswer send(const HttpRequest& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::cluster
