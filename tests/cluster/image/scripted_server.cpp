#include "scripted_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockstep/base/check.h"

namespace lockstep::cluster {

ScriptedServer::ScriptedServer(std::function<std::string(const std::string&)> answer)
    : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  LOCKSTEP_CHECK(::bind(listener_.get(), raw, size) == 0 && ::listen(listener_.get(), 16) == 0 &&
                 ::getsockname(listener_.get(), raw, &size) == 0)
      << "no port";
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

ScriptedServer::~ScriptedServer() {
  ::shutdown(listener_.get(), SHUT_RDWR);  // accept() returns
  thread_.join();
}

std::vector<std::string> ScriptedServer::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void ScriptedServer::serve() {
  while (true) {
    const FileDescriptor peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer) return;
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == request.npos) {
      const ssize_t n = ::read(peer.get(), buffer, sizeof buffer);
      if (n <= 0) break;
      request.append(buffer, static_cast<size_t>(n));
    }
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const std::string answer = answer_(request);
    for (size_t sent = 0; sent < answer.size();) {
      const ssize_t n = ::send(peer.get(), answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) break;
      sent += static_cast<size_t>(n);
    }
  }
}

std::string http_answer(int status, const std::string& body, const std::string& header_lines) {
  return fmt::format("HTTP/1.1 {} x\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                     header_lines, body.size(), body);
}

}  // namespace lockstep::cluster
