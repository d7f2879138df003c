// Splits what comes through a pipe into lines.
#pragma once

#include <functional>
#include <string>

namespace lockstep::launch {

class LineReader {
 public:
  // Reads all that is there from the non-blocking `fd` and calls `on_line` for each line that
  // is complete, without its newline; empty ones are skipped. False at the end of the file.
  bool read(int fd, const std::function<void(const std::string&)>& on_line);

 private:
  std::string partial_;
};

}  // namespace lockstep::launch
