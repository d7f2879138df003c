// Data types by the words that safetensors uses for them.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep {

// Bytes that an element of "F32", "BF16", "I64", ... takes; 0 for an unknown word.
int64_t element_bytes(std::string_view dtype);

}  // namespace lockstep
