#include "lockstep/base/element_bytes.h"

namespace lockstep {

int64_t element_bytes(std::string_view dtype) {
  struct Entry {
    std::string_view word;
    int64_t bytes;
  };
  constexpr Entry kDtypes[] = {{"F64", 8},     {"F32", 4},    {"F16", 2},  {"BF16", 2}, {"I64", 8},
                               {"I32", 4},     {"I16", 2},    {"I8", 1},   {"U64", 8},  {"U32", 4},
                               {"U16", 2},     {"U8", 1},     {"BOOL", 1}, {"C64", 8},  {"F8_E4M3", 1},
                               {"F8_E5M2", 1}, {"F8_E8M0", 1}};
  for (const Entry& entry : kDtypes) {
    if (entry.word == dtype) return entry.bytes;
  }
  return 0;
}

}  // namespace lockstep
