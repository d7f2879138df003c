#include "lockstep/bench/measure.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <array>

#include "lockstep/bench/known_values.h"
#include "lockstep/comm/run_ranks.h"

namespace lockstep::bench {
namespace {

constexpr Repetitions kOnce = {.iterations = 2, .warmup = 1};
constexpr int kRanks = 3;

void with_world(const std::function<void(comm::Communicator&)>& body) {
  comm::run_mesh(kRanks, kRanks, [&](comm::Mesh& mesh) { body(mesh.world()); });
}

// What `break_it` does to the result of a right collective, as rank 0 measures it.
Measured measure_broken(Operation operation, Placement placement,
                        const std::function<void(const at::Tensor& out, int rank)>& break_it) {
  Measured seen;
  with_world([&](comm::Communicator& comm) {
    const Collective right = collective_of(comm, operation);
    const Collective broken = [&](const at::Tensor& out, const at::Tensor& in) {
      right(out, in);
      break_it(out, comm.rank());
    };
    const Measured measured =
        measure(operation, placement, size_of(operation, 4000, kRanks), kOnce, broken, comm, at::kCPU);
    if (comm.rank() == 0) seen = measured;
  });
  return seen;
}

class Measuring : public testing::TestWithParam<std::tuple<Operation, Placement>> {};

TEST_P(Measuring, RightDataHasNoWrongElement) {
  const auto [operation, placement] = GetParam();
  const Measured measured = measure_broken(operation, placement, [](const at::Tensor&, int) {});
  EXPECT_EQ(measured.wrong, 0);
  EXPECT_GT(measured.seconds, 0);
}

TEST_P(Measuring, EveryWrongElementIsCountedOverAllRanks) {
  const auto [operation, placement] = GetParam();
  const Measured measured = measure_broken(operation, placement, [](const at::Tensor& out, int rank) {
    if (rank > 0) out.narrow(0, 5, 2 + rank).add_(1);  // 3 elements on rank 1, 4 on rank 2
  });
  EXPECT_EQ(measured.wrong, 7);
}

INSTANTIATE_TEST_SUITE_P(AllOperations, Measuring,
                         testing::Combine(testing::Values(Operation::kAllReduce, Operation::kAllGather,
                                                          Operation::kReduceScatter),
                                          testing::Values(Placement::kOutOfPlace, Placement::kInPlace)),
                         [](const auto& info) {
                           return word(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == Placement::kInPlace ? "_in_place"
                                                                                  : "_out_of_place");
                         });

TEST(Measuring, ACollectiveThatMovesNothingIsWrong) {
  with_world([](comm::Communicator& comm) {
    const Size size = size_of(Operation::kAllGather, 4000, kRanks);
    const Measured measured = measure(
        Operation::kAllGather, Placement::kOutOfPlace, size, kOnce,
        [](const at::Tensor&, const at::Tensor&) {}, comm, at::kCPU);
    EXPECT_EQ(measured.wrong, kRanks * kRanks * size.count);
  });
}

TEST(KnownValues, PartsInAnotherOrderAreWrong) {
  const auto gathered = at::zeros({2 * 64});
  fill_contribution(gathered.narrow(0, 0, 64), 1);
  fill_contribution(gathered.narrow(0, 64, 64), 0);
  EXPECT_EQ(count_wrong(Operation::kAllGather, gathered, 0, 2), 2 * 64);
}

TEST(KnownValues, BuffersOfManyPiecesAreCheckedToTheirEnd) {
  const int64_t n = (int64_t{1} << 22) + 100;  // more than one piece
  const auto values = at::zeros({n});
  fill_contribution(values, 0);
  EXPECT_EQ(count_wrong(Operation::kAllReduce, values, 0, 1), 0);
  values[3].fill_(-1);
  values[n - 1].fill_(-1);
  EXPECT_EQ(count_wrong(Operation::kAllReduce, values, 0, 1), 2);
}

TEST(KnownValues, AScattersPartsBeginWhereTheRanksPartDoes) {
  const auto whole = at::zeros({2 * 100}), other = at::zeros({2 * 100});
  fill_contribution(whole, 0);
  fill_contribution(other, 1);
  whole.add_(other);
  EXPECT_EQ(count_wrong(Operation::kReduceScatter, whole.narrow(0, 100, 100), 1, 2), 0);
  EXPECT_EQ(count_wrong(Operation::kReduceScatter, whole.narrow(0, 0, 100), 1, 2), 100);
}

}  // namespace
}  // namespace lockstep::bench
