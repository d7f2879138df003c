// Strings that the Rust library gives out, as C++ values.
#pragma once

#include <string>

#include "lockstep_text.h"

namespace lockstep::text {

// Takes the text over and frees Rust's copy.
inline std::string take(LockstepTextString text) {
  std::string copy(text.data, text.size);
  lockstep_text_string_free(text);
  return copy;
}

}  // namespace lockstep::text
