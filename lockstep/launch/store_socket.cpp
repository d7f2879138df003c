#include "lockstep/launch/store_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"

namespace lockstep::launch {

StoreSocket StoreSocket::listen() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = 0;  // any free one
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);

  FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || ::bind(fd.get(), generic, length) != 0 || ::listen(fd.get(), SOMAXCONN) != 0 ||
      ::getsockname(fd.get(), generic, &length) != 0) {
    throw CommandError(fmt::format(
        "launch: cannot listen on 127.0.0.1 for the workers' store: {}. Is the loopback interface up?",
        errno_words(errno)));
  }
  return {std::move(fd), ntohs(address.sin_port)};
}

}  // namespace lockstep::launch
