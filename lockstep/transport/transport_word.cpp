#include "lockstep/transport/transport_word.h"

#include "lockstep/base/check.h"

namespace lockstep::transport {
namespace {

[[noreturn]] void no_such_value() {
  LOCKSTEP_CHECK(false) << "not a value of the enumeration";
  __builtin_unreachable();
}

}  // namespace

std::string_view word(Transport transport) {
  switch (transport) {
    case Transport::kUnknown:
      return "unknown";
    case Transport::kNone:
      return "none";
    case Transport::kEfa:
      return "efa";
    case Transport::kIb:
      return "ib";
    case Transport::kRoce:
      return "roce";
    case Transport::kSocket:
      return "socket";
    case Transport::kOfiTcp:
      return "ofi-tcp";
    case Transport::kMixed:
      return "mixed";
  }
  no_such_value();
}

std::string_view word(Level level) {
  switch (level) {
    case Level::kNothing:
      return "nothing";
    case Level::kSelected:
      return "selected";
    case Level::kConnected:
      return "connected";
    case Level::kMoved:
      return "moved";
  }
  no_such_value();
}

std::string_view word(GpuDirect gpu_direct) {
  switch (gpu_direct) {
    case GpuDirect::kUnknown:
      return "unknown";
    case GpuDirect::kYes:
      return "yes";
    case GpuDirect::kNo:
      return "no";
  }
  no_such_value();
}

}  // namespace lockstep::transport
