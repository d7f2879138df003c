// Is a text UTF-8?
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace lockstep {

// Offset of the first byte that is not UTF-8 as RFC 3629 has it (no overlong forms, no surrogates,
// nothing above U+10FFFF) or is zero; nothing when all of it is text.
std::optional<size_t> find_invalid_utf8(std::string_view text);

}  // namespace lockstep
