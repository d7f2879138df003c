// The one file that sees ProcessGroupGloo: its header needs Gloo's own (Debian's libgloo-dev,
// headers only; libtorch carries the library).
#include "lockstep/comm/gloo_process_group.h"

#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "lockstep/comm/own_address.h"

namespace lockstep::comm {
namespace {

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
