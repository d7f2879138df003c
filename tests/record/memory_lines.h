// A LineSink that a test can look into.
#pragma once

#include <string>
#include <vector>

#include "lockstep/record/line_sink.h"

namespace lockstep::record {

struct MemoryLines : LineSink {
  void write(std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

}  // namespace lockstep::record
