// Seeded orders of things.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::data {

// The numbers 0 .. n-1 in an order that depends on (n, seed, round) alone: the same on every
// rank, machine and standard library (std::shuffle is not). Durstenfeld's shuffle, O(n).
std::vector<int64_t> permutation(int64_t n, uint64_t seed, uint64_t round);

}  // namespace lockstep::data
