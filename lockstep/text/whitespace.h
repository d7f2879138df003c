#pragma once

#include <string_view>

namespace lockstep::text {

// Whether the text is nothing but ASCII white space; so is the empty text.
inline bool is_whitespace(std::string_view text) {
  return text.find_first_not_of(" \t\n\r\f\v") == std::string_view::npos;
}

}  // namespace lockstep::text
