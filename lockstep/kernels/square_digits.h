// How one square is cut into the digits of kernels/square_sum.h; the same on CPU and GPU. To be
// compiled without contraction into fused multiply-adds, which would skip a rounding.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define LOCKSTEP_HOST_DEVICE __host__ __device__
#else
#define LOCKSTEP_HOST_DEVICE
#endif

namespace lockstep::kernels {

// 1.5 * 2^52 units of a digit: what is added to it stays between 2^52 and 2^53 units, where
// neighbouring float64 numbers, and the integers of their bits, are one unit apart.
constexpr double kRoundTo24Bits = 0x1.8p28, kRoundTo48Bits = 0x1.8p4, kRoundTo72Bits = 0x1.8p-20;

LOCKSTEP_HOST_DEVICE inline int64_t bits_of(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Adds `value` in units of the digit to `digit`, rounded to a whole number; returns what is left.
LOCKSTEP_HOST_DEVICE inline double take_digit(double value, double round, int64_t& digit) {
  const double shifted = value + round;
  digit += bits_of(shifted) - bits_of(round);
  return value - (shifted - round);
}

LOCKSTEP_HOST_DEVICE inline void add_square(double x, int64_t& d0, int64_t& d1, int64_t& d2) {
  double rest = take_digit(x * x, kRoundTo24Bits, d0);
  rest = take_digit(rest, kRoundTo48Bits, d1);
  take_digit(rest, kRoundTo72Bits, d2);
}

}  // namespace lockstep::kernels
