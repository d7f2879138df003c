// A line of a log, kept to be shown.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::transport {

struct Quote {
  uint32_t source = 0;  // index of the file
  uint64_t line = 0;    // counted from 1; 0 is no line
  std::string text;
};

}  // namespace lockstep::transport
