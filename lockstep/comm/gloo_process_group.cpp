// The one file that sees ProcessGroupGloo: its header needs Gloo's own (Debian's libgloo-dev,
// headers only; libtorch carries the library).
#include "lockstep/comm/gloo_process_group.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace lockstep::comm {
namespace {

// The address of this machine from which `host` is reached: what the other nodes should
// connect to. A datagram socket that sends nothing asks the routing table.
std::string address_towards(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), "9", &hints, &found) != 0 || found == nullptr) return host;
  std::string address = host;
  const int fd = socket(found->ai_family, found->ai_socktype, 0);
  if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0) {
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    char text[NI_MAXHOST];
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) == 0 &&
        getnameinfo(reinterpret_cast<sockaddr*>(&own), length, text, sizeof text, nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      address = text;
    }
  }
  if (fd >= 0) close(fd);
  freeaddrinfo(found);
  return address;
}

std::shared_ptr<::gloo::transport::Device> make_device(const Group& group) {
  using c10d::ProcessGroupGloo;
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME")) {
    return ProcessGroupGloo::createDeviceForInterface(interface);
  }
  return ProcessGroupGloo::createDeviceForHostname(group.one_host ? "127.0.0.1"
                                                                  : address_towards(group.rank0_host));
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> connect_gloo(const Group& group) {
  auto options = c10d::ProcessGroupGloo::Options::create(group.timeout);
  options->devices.push_back(make_device(group));
  options->threads = 1;
  group.store->setTimeout(group.timeout);
  return c10::make_intrusive<c10d::ProcessGroupGloo>(group.store, group.rank, group.size(), options);
}

}  // namespace lockstep::comm
