#include "lockstep/comm/ordered_sum.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>

#include "tests/gpu/gpu_test.h"

namespace lockstep {
namespace {

class GpuOrderedSum : public testing::GpuTest {
 protected:
  static void expect_the_bits_of_the_cpu(const at::Tensor& parts, at::ScalarType dtype) {
    const auto on_cpu = at::empty({parts.size(1)}, dtype);
    const auto on_gpu = at::empty({parts.size(1)}, at::TensorOptions().dtype(dtype).device(at::kCUDA));
    comm::ordered_sum(on_cpu, parts);
    comm::ordered_sum(on_gpu, parts.to(at::kCUDA));
    EXPECT_TRUE(at::equal(on_gpu.cpu(), on_cpu))
        << parts.sizes() << " " << parts.dtype() << " into " << dtype;
  }
};

TEST_F(GpuOrderedSum, HasTheBitsOfTheCpuForAnyNumberOfParts) {
  for (const int64_t parts : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 24, 31, 72}) {
    expect_the_bits_of_the_cpu(at::randn({parts, 1001}), at::kFloat);
    expect_the_bits_of_the_cpu(at::randn({parts, 3000}), at::kFloat);  // whole packs
  }
}

TEST_F(GpuOrderedSum, RoundsOnceFromNarrowTypes) {
  expect_the_bits_of_the_cpu(at::randn({2, 1024}).to(at::kBFloat16), at::kFloat);
  const auto values = at::randn({5, 777});
  expect_the_bits_of_the_cpu(values.to(at::kBFloat16), at::kFloat);
  expect_the_bits_of_the_cpu(values.to(at::kHalf), at::kFloat);
  expect_the_bits_of_the_cpu(values.to(at::kBFloat16), at::kDouble);
  expect_the_bits_of_the_cpu(values, at::kDouble);
  expect_the_bits_of_the_cpu(values.mul(100).to(at::kLong), at::kLong);
}

}  // namespace
}  // namespace lockstep
