#include "lockstep/launch/report_errors.h"

#include <cstdio>
#include <new>
#include <string>

#include "lockstep/base/error.h"

namespace lockstep::launch {

int report_errors(const std::function<int()>& body) noexcept {
  try {
    return body();
  } catch (const Error& error) {
    std::fprintf(stderr, "lockstep: error: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::bad_alloc&) {
    std::fputs("lockstep: error: out of memory on this host\n", stderr);
    return static_cast<int>(ExitCode::kDoesNotFit);
  } catch (const std::exception& error) {
    // libtorch's errors carry a backtrace below their words; a debugger gives a better one.
    const std::string words = error.what();
    std::fprintf(stderr, "lockstep: internal error: %s\n",
                 words.substr(0, words.find("\nException raised from")).c_str());
  } catch (...) {
    std::fputs("lockstep: internal error: an exception of unknown type\n", stderr);
  }
  return static_cast<int>(ExitCode::kInternal);
}

}  // namespace lockstep::launch
