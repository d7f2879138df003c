#include "lockstep/comm/position.h"

#include <fmt/format.h>

namespace lockstep::comm {

std::string Position::words() const {
  std::string out = step < 0 ? std::string("start-up") : fmt::format("step {}", step.load());
  out += fmt::format(", {}", phase.load());
  if (unit >= 0) out += fmt::format(", unit {}", unit.load());
  return out + fmt::format(", {} #{}", operation.load(), sequence.load());
}

}  // namespace lockstep::comm
