// CHECK(condition) << "details": our own mistake stops the program with file, line and
// condition. The world failing (files, network, settings) is never a CHECK: see error.h.
#pragma once

#include <sstream>

namespace lockstep::internal {

// Collects the message and aborts when destroyed.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

}  // namespace lockstep::internal

#define LOCKSTEP_CHECK(condition) \
  if (condition) [[likely]] {     \
  } else                          \
    ::lockstep::internal::CheckFailure(__FILE__, __LINE__, #condition).stream()
