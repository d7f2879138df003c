#include "lockstep/bench/operation.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/bench/options.h"
#include "tests/base/refusal.h"

namespace lockstep::bench {
namespace {

using testing::ElementsAre;

TEST(Operation, BusBandwidthCountsWhatTheBusiestLinkCarries) {
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kAllReduce, 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kAllReduce, 8), 2 * 7.0 / 8);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kAllGather, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::kReduceScatter, 1), 0.0);
}

TEST(Operation, PartsOfAGatherAreMultiplesOf16BytesAndItsSizeIsTheTotal) {
  EXPECT_EQ(size_of(Operation::kAllReduce, 10, 3).bytes, 8);
  EXPECT_EQ(size_of(Operation::kAllReduce, 10, 3).count, 2);
  EXPECT_EQ(size_of(Operation::kAllGather, 1024, 3).count, 84);  // 256 elements / 3 = 85, down to 84
  EXPECT_EQ(size_of(Operation::kAllGather, 1024, 3).bytes, 3 * 84 * 4);
  EXPECT_EQ(size_of(Operation::kReduceScatter, 8, 2).bytes, 0);
}

TEST(Operation, AllAreTakenByName) {
  EXPECT_THAT(parse_operations("all"),
              ElementsAre(Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter));
  EXPECT_THAT(parse_operations("all_gather"), ElementsAre(Operation::kAllGather));
  EXPECT_THROW(parse_operations("alltoall"), ConfigError);
}

TEST(AllreduceOptions, WhatCannotBeMeasuredIsRefusedByName) {
  const auto refusal = [](const std::function<void(AllreduceOptions&)>& change) -> std::string {
    AllreduceOptions options;
    change(options);
    return refusal_of([&] { options.validate(); });
  };
  EXPECT_EQ(refusal([](auto&) {}), "accepted");
  EXPECT_EQ(refusal([](auto& options) { options.min_bytes = 0; }),
            "bench: --min-bytes is 0: it takes at least 4, one element");
  EXPECT_THAT(refusal([](auto& options) { options.max_bytes = 4; }), testing::HasSubstr("--max-bytes"));
  EXPECT_THAT(refusal([](auto& options) { options.factor = 1; }), testing::HasSubstr("--factor"));
  EXPECT_THAT(refusal([](auto& options) { options.repetitions.iterations = 0; }),
              testing::HasSubstr("--iters"));
  EXPECT_THAT(refusal([](auto& options) { options.num_workers = 0; }), testing::HasSubstr("--num-workers"));
}

}  // namespace
}  // namespace lockstep::bench
