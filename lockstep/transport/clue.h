// Lines that explain a verdict: what went wrong, and what to do about it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::transport {

// What a clue can explain. NCCL prints many of these lines in good runs too, so a clue counts only
// where the verdict needs explaining.
enum Explains : uint8_t {
  kFallback = 1,  // TCP although another network was wanted, or ranks that disagree
  kNoGpuDirect = 2,
  kFailure = 4,  // the job ended or hangs; whatever the transport is
  kStart = 8,    // no network was chosen at all
};

struct Clue {
  std::string_view prefix;    // the record's text begins with this ...
  std::string_view contains;  // ... and contains this
  uint8_t explains;
  std::string_view cause;
  std::string_view fix;
};

// All clues, the most telling first.
std::span<const Clue> clues();

// The first of clues() that `text` is, by index; -1 for none. O(number of clues).
int find_clue(std::string_view text);

}  // namespace lockstep::transport
