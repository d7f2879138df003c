// A server on a port of loopback that answers each request with the bytes that a test gives, right or wrong,
// and then closes the connection: for what a real registry cannot be made to do at will.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lockstep/base/file_descriptor.h"

namespace lockstep::cluster {

class ScriptedServer {
 public:
  // `answer` gets the request up to its empty line, and runs on the server's thread.
  explicit ScriptedServer(std::function<std::string(const std::string& request)> answer);
  ~ScriptedServer();

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // All that came so far.
  std::vector<std::string> requests();

 private:
  void serve();

  std::function<std::string(const std::string&)> answer_;
  FileDescriptor listener_;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> requests_;  // GUARDED_BY(mutex_): the server's thread fills it
  std::thread thread_;
};

// "HTTP/1.1 STATUS x", these header lines, Content-Length and the body.
std::string http_answer(int status, const std::string& body, const std::string& header_lines = "");

}  // namespace lockstep::cluster
