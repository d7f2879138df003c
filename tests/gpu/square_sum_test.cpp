#include "lockstep/kernels/square_sum.h"

#include <ATen/ops/equal.h>
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

}  // namespace
}  // namespace lockstep
