#include "lockstep/base/error.h"

namespace lockstep {

bool worth_a_retry(int exit_code) {
  switch (static_cast<ExitCode>(exit_code)) {
    case ExitCode::kStorage:
    case ExitCode::kPeerLost:
    case ExitCode::kHang:
    case ExitCode::kPreempted:
      return true;
    case ExitCode::kInterrupted:  // 128 + SIGINT: a person's wish, not an accident
      return false;
    default:
      return exit_code > 128 && exit_code < 128 + 65;
  }
}

}  // namespace lockstep
