#include "lockstep/base/utf8.h"

#include <cstdint>

namespace lockstep {
namespace {

// Bytes in the character that begins `text`, or 0 when it is not one.
size_t character_size(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return first == 0 ? 0 : 1;
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const uint8_t second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool too_high = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_high ? 0 : size;
}

}  // namespace

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t size = character_size(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return std::nullopt;
}

}  // namespace lockstep
