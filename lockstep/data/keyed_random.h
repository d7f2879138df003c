// Random numbers by key instead of by state: the same key gives the same number wherever and
// whenever it is asked for, so they cannot depend on ranks or on where a run was continued.
// The mixing function is SplitMix64's finalizer (Steele, Lea, Flood: "Fast splittable
// pseudorandom number generators", 2014). Not for secrets.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace lockstep::data {

constexpr uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// 64 bits that depend on every part of the key and on their order.
constexpr uint64_t keyed_random(std::initializer_list<uint64_t> key) {
  uint64_t state = 0;
  for (const uint64_t part : key) state = mix(state ^ mix(part));
  return state;
}

// Maps 64 random bits to [0, n), n >= 1, by the high half of the product; a value's probability
// is off by less than n / 2^64.
constexpr uint64_t below(uint64_t random, uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return uint64_t((Wide(random) * n) >> 64);
}

}  // namespace lockstep::data
