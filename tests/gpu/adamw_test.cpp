#include "lockstep/kernels/adamw.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>

#include "tests/gpu/gpu_test.h"

namespace lockstep {
namespace {

class GpuAdamW : public testing::GpuTest {
 protected:
  static kernels::AdamWScalars scalars(double lr, int64_t step, double grad_scale) {
    return {.lr = lr,
            .beta1 = 0.9,
            .beta2 = 0.95,
            .eps = 1e-8,
            .weight_decay = 0.1,
            .step = step,
            .grad_scale = grad_scale};
  }
};

TEST_F(GpuAdamW, HasTheBitsOfTheCpu) {
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    for (const int64_t n : {1, 2, 3, 5, 1023, 1024, 100'003}) {
      auto p = at::randn({n}, dtype), m = at::randn({n}, dtype), v = at::rand({n}, dtype);
      auto p_gpu = p.to(at::kCUDA), m_gpu = m.to(at::kCUDA), v_gpu = v.to(at::kCUDA);
      for (int64_t step = 1; step <= 3; ++step) {
        const auto g = at::randn({n}, dtype);
        const auto how = scalars(1e-3, step, step == 2 ? 0.3 : 1);
        kernels::adamw(p, m, v, g, how);
        kernels::adamw(p_gpu, m_gpu, v_gpu, g.to(at::kCUDA), how);
      }
      EXPECT_TRUE(at::equal(p_gpu.cpu(), p)) << n << " " << dtype;
      EXPECT_TRUE(at::equal(m_gpu.cpu(), m)) << n << " " << dtype;
      EXPECT_TRUE(at::equal(v_gpu.cpu(), v)) << n << " " << dtype;
    }
  }
}

TEST_F(GpuAdamW, TakesAGradientInBfloat16) {
  for (const int64_t n : {1, 3, 1024, 100'003}) {
    auto p = at::randn({n}), m = at::randn({n}), v = at::rand({n});
    auto p_gpu = p.to(at::kCUDA), m_gpu = m.to(at::kCUDA), v_gpu = v.to(at::kCUDA);
    const auto g = at::randn({n}).to(at::kBFloat16);
    const auto how = scalars(1e-3, 1, 0.3);
    kernels::adamw(p, m, v, g, how);
    const auto copy = at::zeros({n}, g.options().device(at::kCUDA));
    kernels::adamw(p_gpu, m_gpu, v_gpu, g.to(at::kCUDA), how, copy);
    EXPECT_TRUE(at::equal(p_gpu.cpu(), p)) << n;
    EXPECT_TRUE(at::equal(copy.cpu(), p.to(at::kBFloat16))) << n;
    EXPECT_TRUE(at::equal(v_gpu.cpu(), v)) << n;
  }
}

TEST_F(GpuAdamW, KeepsBfloat16WithTheBitsOfTheCpu) {
  for (const int64_t n : {1, 3, 9, 1024, 100'003}) {
    for (const auto gradients : {at::kFloat, at::kBFloat16}) {
      auto p = at::randn({n}).to(at::kBFloat16), m = at::randn({n}).to(at::kBFloat16),
           v = at::rand({n}).to(at::kBFloat16);
      auto p_gpu = p.to(at::kCUDA), m_gpu = m.to(at::kCUDA), v_gpu = v.to(at::kCUDA);
      const auto g = at::randn({n}).to(gradients);
      const auto how = scalars(0.1, 2, 0.3);
      kernels::adamw(p, m, v, g, how);
      kernels::adamw(p_gpu, m_gpu, v_gpu, g.to(at::kCUDA), how);
      EXPECT_TRUE(at::equal(p_gpu.cpu(), p)) << n << " " << gradients;
      EXPECT_TRUE(at::equal(m_gpu.cpu(), m)) << n << " " << gradients;
      EXPECT_TRUE(at::equal(v_gpu.cpu(), v)) << n << " " << gradients;
    }
  }
}

}  // namespace
}  // namespace lockstep
