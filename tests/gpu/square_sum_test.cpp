#include "lockstep/kernels/square_sum.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include "tests/gpu/gpu_test.h"

namespace lockstep {
namespace {

class GpuSquareSum : public testing::GpuTest {};

TEST_F(GpuSquareSum, HasTheDigitsOfTheCpu) {
  for (const auto dtype : {at::kBFloat16, at::kFloat, at::kDouble}) {
    for (const int64_t n : {1, 31, 257, 100'003, 3'000'001}) {
      const auto values = at::randn({n}, dtype).pow(3);
      const auto on_cpu = at::zeros({kernels::kSquareDigits}, at::kLong);
      const auto on_gpu = on_cpu.to(at::kCUDA);
      kernels::add_squares(on_cpu, values, 0x1p-8);
      kernels::add_squares(on_gpu, values.to(at::kCUDA), 0x1p-8);
      EXPECT_TRUE(at::equal(on_gpu.cpu(), on_cpu)) << n << " " << dtype;
    }
  }
}

TEST_F(GpuSquareSum, PlainPartsAddUpToTheSumOfSquares) {
  for (const auto dtype : {at::kBFloat16, at::kFloat, at::kDouble}) {
    for (const int64_t n : {1, 31, 257, 100'003, 3'000'000, 3'000'001}) {
      const auto values = at::randn({n}, dtype);
      const double right = values.to(at::kDouble).square().sum().item<double>();
      const auto parts = kernels::square_parts(values.to(at::kCUDA));
      EXPECT_NEAR(parts.sum().item<double>(), right, 1e-12 * right) << n << " " << dtype;
      EXPECT_TRUE(at::equal(kernels::square_parts(values.to(at::kCUDA)), parts));
      EXPECT_NEAR(kernels::square_parts(values).sum().item<double>(), right, 1e-12 * right);
    }
  }
  const auto large = at::full({5}, 1e38, at::TensorOptions(at::kFloat).device(at::kCUDA));
  EXPECT_NEAR(kernels::square_parts(large).sum().item<double>(), 5e76, 1e70);
}

}  // namespace
}  // namespace lockstep
