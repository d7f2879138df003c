#include "lockstep/kernels/square_sum.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::kernels {
namespace {

at::Tensor digits_of(const std::vector<at::Tensor>& parts, double scale = 1) {
  const auto digits = at::zeros({kSquareDigits}, at::kLong);
  for (const auto& part : parts) add_squares(digits, part, scale);
  return digits;
}

// In [-1, 1], spread over many powers of two, so that the order of additions in floating point shows.
at::Tensor spread_out(int64_t n, at::ScalarType dtype, uint64_t seed = 1) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const auto exponents = at::rand({n}, generator, at::kDouble) * -30;
  return ((at::rand({n}, generator, at::kDouble) * 2 - 1) * exponents.exp2()).to(dtype);
}

TEST(SquareSum, HasTheSameDigitsInWhateverOrderAndHoweverSplit) {
  for (const auto dtype : {at::kBFloat16, at::kFloat, at::kDouble}) {
    const auto values = spread_out(100'003, dtype);
    const auto whole = digits_of({values});
    EXPECT_TRUE(at::equal(digits_of({values.flip(0).contiguous()}), whole));
    for (const int64_t cut : {1, 7, 33'331, 100'002}) {
      const auto head = values.narrow(0, 0, cut), tail = values.narrow(0, cut, values.numel() - cut);
      EXPECT_TRUE(at::equal(digits_of({tail, head}), whole)) << cut;
    }
  }
}

TEST(SquareSum, HasTheSameDigitsForAnyNumberOfThreads) {
  const auto values = spread_out(1'000'003, at::kFloat);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto alone = digits_of({values});
  at::set_num_threads(3);
  EXPECT_TRUE(at::equal(digits_of({values}), alone));
  at::set_num_threads(threads);
}

// Of float32 numbers nothing is lost but what lies below 2^-73 of the largest square.
TEST(SquareSum, IsExactWithinItsBound) {
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const auto values = spread_out(10'000, dtype);
    long double exact = 0;
    const auto as_double = values.to(at::kDouble);
    for (int64_t i = 0; i < values.numel(); ++i) {
      const long double x = as_double.const_data_ptr<double>()[i];
      exact += x * x;
    }
    const double sum = square_sum(digits_of({values}));
    EXPECT_NEAR(sum / static_cast<double>(exact), 1.0, 4e-16) << dtype;
  }
}

TEST(SquareSum, TakesSmallSquaresBesideALargeOne) {
  auto values = at::full({1 << 20}, 0x1p-30, at::kFloat);  // squares of 2^-60, together 2^-40
  values[0] = 1;
  values[1] = 0;
  EXPECT_EQ(square_sum(digits_of({values})), 1 + 0x1p-40 - 2 * 0x1p-60);
}

TEST(SquareSum, ScalesExactlyFromTheEndsOfTheRange) {
  const auto huge = at::full({3}, 0x1p127, at::kFloat), tiny = at::full({3}, 0x1p-149, at::kFloat);
  EXPECT_EQ(square_sum(digits_of({huge}, 0x1p-127)), 3);
  EXPECT_EQ(square_sum(digits_of({tiny}, 0x1p149)), 3);
  EXPECT_EQ(square_sum(digits_of({at::full({3}, 0x1p1023, at::kDouble)}, 0x1p-1023)), 3);
}

}  // namespace
}  // namespace lockstep::kernels
