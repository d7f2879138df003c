// What a ConfigError says, for tests of what is refused.
#pragma once

#include <string>

#include "lockstep/base/error.h"

namespace lockstep {

// Runs `make` and returns the message of the ConfigError that it threw; "accepted" when it threw none.
template <typename Make>
std::string refusal_of(const Make& make) {
  try {
    make();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace lockstep
