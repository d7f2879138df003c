#include "lockstep/bench/kernel_times.h"

#include <gtest/gtest.h>

namespace lockstep::bench {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(KernelTimes, KernelsAreToldApartByTheirNames) {
  EXPECT_EQ(class_of_kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT"), "products");
  EXPECT_EQ(class_of_kernel("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"), "products");
  EXPECT_EQ(class_of_kernel("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16"), "attention");
  EXPECT_EQ(
      class_of_kernel("void lockstep::kernels::(anonymous namespace)::rms_norm_kernel<__nv_bfloat16, 8>"),
      "norms");
  EXPECT_EQ(class_of_kernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "communication");
  EXPECT_EQ(class_of_kernel("Memcpy PtoP (Device -> Device)"), "communication");
  EXPECT_EQ(class_of_kernel("Memcpy DtoD (Device -> Device)"), "copies");
  EXPECT_EQ(
      class_of_kernel("void at::native::lpnorm_cleanup<c10::BFloat16, (at::native::NormType)1, double>"),
      "gradient norm");
  EXPECT_EQ(class_of_kernel("something new"), "other");
}

TEST(KernelTimes, OfOverlappingKernels) {
  const auto times = times_of({{"gemm a", 5 * kMs, 7 * kMs},
                               {"ncclDevKernel_AllGather", 2 * kMs, 6 * kMs},
                               {"gemm a", 0, 3 * kMs},
                               {"rms_norm_kernel", 9 * kMs, 10 * kMs}});
  EXPECT_DOUBLE_EQ(times.span_ms, 10);
  EXPECT_DOUBLE_EQ(times.busy_ms, 8);     // not from 7 to 9
  EXPECT_DOUBLE_EQ(times.exposed_ms, 2);  // from 3 to 5
  ASSERT_EQ(times.classes.size(), 3U);
  EXPECT_EQ(times.classes[0].name, "products");
  EXPECT_EQ(times.classes[0].count, 2);
  EXPECT_DOUBLE_EQ(times.classes[0].ms, 5);
  EXPECT_EQ(times.classes[1].name, "communication");
  EXPECT_EQ(times.kernels[0].name, "gemm a");
}

TEST(KernelTimes, OfNothing) { EXPECT_EQ(times_of({}).span_ms, 0); }

}  // namespace
}  // namespace lockstep::bench
