// Ends, or holds up for ever, the process that loads it.
#include <unistd.h>

#include <cstdlib>

namespace {
const bool loaded = [] {
  if (std::getenv("PROBED_HANGS")) ::pause();
  std::abort();
  return true;
}();
}
