#include "lockstep/fsdp/gradient_norm.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lockstep/comm/run_ranks.h"

namespace lockstep::fsdp {
namespace {

using ::testing::Each;

// The norm that each of W ranks gets of `values`, cut into three tensors on each.
std::vector<double> norms(const at::Tensor& values, int num_ranks, NormSum sum = NormSum::kExact) {
  std::vector<double> result(static_cast<size_t>(num_ranks));
  comm::run_mesh(num_ranks, num_ranks, [&](comm::Mesh& mesh) {
    const auto mine = at::tensor_split(values, num_ranks)[static_cast<size_t>(mesh.rank())];
    const int64_t n = mine.numel();
    const auto parts = at::split_with_sizes(mine, {n / 5, n / 3, n - n / 5 - n / 3});
    result[static_cast<size_t>(mesh.rank())] = gradient_norm(parts, at::kCPU, mesh.world(), sum);
  });
  return result;
}

TEST(GradientNorm, HasTheSameBitsOnAnyNumberOfRanks) {
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const auto values = at::randn({10'007}, dtype).pow(3) * 1e-4;
    const auto alone = norms(values, 1);
    const double plain = at::linalg_vector_norm(values.to(at::kDouble)).item<double>();
    EXPECT_NEAR(alone[0] / plain, 1.0, 1e-14);
    for (const int num_ranks : {2, 3, 4}) EXPECT_THAT(norms(values, num_ranks), Each(alone[0]));
  }
}

TEST(GradientNorm, PlainlyAddedIsTheSameWithinRounding) {
  for (const auto dtype : {at::kBFloat16, at::kFloat, at::kDouble}) {
    const auto values = (at::randn({10'007}).pow(3) * 1e-4).to(dtype);
    const double exact = norms(values, 1)[0];
    for (const int num_ranks : {1, 2, 3}) {
      const auto plain = norms(values, num_ranks, NormSum::kPlain);
      EXPECT_THAT(plain, Each(plain[0]));
      EXPECT_NEAR(plain[0] / exact, 1.0, 1e-14) << dtype;
    }
  }
}

TEST(GradientNorm, PlainlyAddedCoversTheWholeRangeOfFloat32) {
  EXPECT_THAT(norms(at::full({16}, 0x1p127, at::kFloat), 2, NormSum::kPlain), Each(0x1p129));
  EXPECT_THAT(norms(at::full({16}, 0x1p127, at::kBFloat16), 2, NormSum::kPlain), Each(0x1p129));
  EXPECT_THAT(norms(at::full({16}, 0x1p-149, at::kFloat), 2, NormSum::kPlain), Each(0x1p-147));
}

TEST(GradientNorm, CoversTheWholeRange) {
  EXPECT_THAT(norms(at::full({16}, 0x1p-149, at::kFloat), 2), Each(0x1p-147));
  EXPECT_THAT(norms(at::full({16}, 0x1p127, at::kFloat), 2), Each(0x1p129));
  EXPECT_THAT(norms(at::full({16}, 0x1p-1000, at::kDouble), 2), Each(0x1p-998));
  EXPECT_THAT(norms(at::full({16}, 0x1p1020, at::kDouble), 2), Each(0x1p1022));
  EXPECT_THAT(norms(at::zeros({16}), 2), Each(0.0));
}

TEST(GradientNorm, WhatIsNotFiniteOnOneRankIsOnAll) {
  auto values = at::ones({30});
  values[29] = -std::numeric_limits<float>::infinity();
  for (const auto sum : {NormSum::kExact, NormSum::kPlain})
    EXPECT_THAT(norms(values, 3, sum), Each(std::numeric_limits<double>::infinity()));
  values[14] = std::numeric_limits<float>::quiet_NaN();
  for (const auto sum : {NormSum::kExact, NormSum::kPlain})
    for (const double norm : norms(values, 3, sum)) EXPECT_TRUE(std::isnan(norm));
}

TEST(GradientNorm, OfNoGradientsIsZero) {
  comm::run_mesh(2, 2, [](comm::Mesh& mesh) {
    for (const auto sum : {NormSum::kExact, NormSum::kPlain})
      EXPECT_EQ(gradient_norm({}, at::kCPU, mesh.world(), sum), 0);
  });
}

}  // namespace
}  // namespace lockstep::fsdp
