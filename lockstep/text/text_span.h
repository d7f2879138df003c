#pragma once

#include <cstddef>

namespace lockstep::text {

// Bytes of a text, [begin, end).
struct TextSpan {
  size_t begin;
  size_t end;
};

}  // namespace lockstep::text
