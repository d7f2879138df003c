// The addresses by which NCCL's lines tell hosts of one name apart.
#pragma once

#include <optional>
#include <string_view>

namespace lockstep::transport {

struct HostAddress {
  std::string_view interface;  // "eth0"
  std::string_view ip;         // "192.0.2.11"
};

// "Bootstrap : Using eth0:192.0.2.11<0>" (2.24 and newer: "Bootstrap: Using"), "NET/Socket : Using
// [0]eth0:192.0.2.11<0> [1]..." (the first), "NET/IB : Using ...; OOB eth0:192.0.2.11<0>". All of
// them are TCP whatever carries the data: they say which host it is, never which transport.
std::optional<HostAddress> parse_host_address(std::string_view text);

// 127.0.0.0/8 and ::1 are the same on every host.
bool is_loopback(std::string_view ip);

}  // namespace lockstep::transport
