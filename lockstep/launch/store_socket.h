// The listening socket of rank 0's store, bound before the workers start: the port is known
// and held, so no other program can take it in between.
#pragma once

#include <cstdint>

#include "lockstep/base/file_descriptor.h"

namespace lockstep::launch {

struct StoreSocket {
  FileDescriptor fd;  // listens on 127.0.0.1
  uint16_t port = 0;  // given by the kernel

  // Throws CommandError when there is none to be had.
  static StoreSocket listen();
};

}  // namespace lockstep::launch
