// The sum of the squares of many numbers, with the same bits in whatever order and however
// split over calls, threads, ranks and devices they are added: it is kept in fixed point, where
// addition is exact.
//
// With x = g * scale in [-1, 1], the square s = x * x, rounded to float64 (exact for float32 g),
// is cut into digits of 24 bits,
//
//   s = d0 * 2^-24 + d1 * 2^-48 + d2 * 2^-72 + rest,   |rest| <= 2^-73,
//
// and each digit is summed as an integer. A digit is found by adding a constant so large that
// the float64 sum rounds to a multiple of the digit's unit: the pre-rounding of Demmel and
// Nguyen, "Fast Reproducible Floating-Point Summation", 2013. Of N elements the largest of which
// is at least 1/2, the sum loses a share of at most N * 2^-71 (plus 2^-53 for float64 g).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::kernels {

constexpr int kSquareDigits = 3;
constexpr int64_t kMaxSquares = int64_t{1} << 38;  // elements of one sum; more could overflow a digit

// digits: [3] int64 += the digits' sums over g: [n], contiguous, bfloat16, float32 or float64, finite, on
// the same device. Reads g once (bound by memory on a GPU); on CPU split over torch's threads.
// Dispatched as the operator lockstep::add_squares_.
void add_squares(at::Tensor digits, const at::Tensor& g, double scale);

// The sum of (g * scale)^2 that `digits`, on the CPU, stand for.
double square_sum(const at::Tensor& digits);

// The plain way: parts of the sum of g^2, float64 [some number], each summed in an order that depends on n
// alone; their sum is infinite only if an element is. g as above, but of any values. Reads g once. Dispatched
// as the operator lockstep::square_parts.
at::Tensor square_parts(const at::Tensor& g);

}  // namespace lockstep::kernels
