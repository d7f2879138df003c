#include "lockstep/train/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::train {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kGib = int64_t{1} << 30;

// A model of 1.5 billion parameters on one L4: 22 GiB, of which one is the driver's.
FullMemory on_an_l4() {
  return {.device = "cuda:0",
          .where = "step 0, forward",
          .asked = kGib,
          .total = 22 * kGib,
          .free = kGib / 2,
          .allowed = 22 * kGib,
          .shards = 6 * kGib,
          .gradients = 0,
          .optimizer = 6 * kGib,
          .gathered = 0,
          .tensors = 20 * kGib,
          .allocator = 20 * kGib + kGib / 2,
          .micro_batch = 8,
          .sequence_length = 2048,
          .num_workers = 1,
          .sharded = false,
          .narrow_master = false};
}

TEST(OutOfMemory, SaysWhatWasAskedAndWhatHoldsWhat) {
  EXPECT_THAT(
      out_of_memory_words(on_an_l4()),
      HasSubstr(
          "out of memory on cuda:0 at step 0, forward: 1.00 GiB asked for, 512 MiB of 22.0 GiB free. "
          "Held: weights 6.00 GiB, gradients 0 B, optimizer 6.00 GiB, gathered weights 0 B, activations "
          "and the like 8.00 GiB, kept by torch's allocator and of no use 512 MiB, other processes "
          "and the driver 1.00 GiB."));
}

// 12 GiB of state and 9 of activations are over 0.95 of 21.
TEST(OutOfMemory, NamesTheSettingsThatFitByThoseFigures) {
  EXPECT_THAT(
      settings_that_fit(on_an_l4()),
      ElementsAre("train.micro_batch: 4 (now 8, with train.global_batch as it is)",
                  "data.sequence_length: 1024 (now 2048)", "sharding.recompute: block, for a third more time",
                  "scaling.num_workers: 2 (now 1) with sharding.strategy: full",
                  "precision.master: bf16, which loses digits"));
}

TEST(OutOfMemory, GoesOnHalvingUntilItFits) {
  FullMemory full = on_an_l4();
  full.optimizer = 12 * kGib;
  full.tensors = 21 * kGib;
  full.allocator = 21 * kGib;
  full.asked = 5 * kGib;  // activations: 8, of which 2.4 fit
  EXPECT_THAT(
      settings_that_fit(full),
      ElementsAre("train.micro_batch: 2 (now 8, with train.global_batch as it is)",
                  "data.sequence_length: 512 (now 2048)", "sharding.recompute: block, for a third more time",
                  "scaling.num_workers: 2 (now 1) with sharding.strategy: full",
                  "precision.master: bf16, which loses digits"));
}

TEST(OutOfMemory, NamesTheCheaperWayWhereALittleIsMissing) {
  FullMemory full = on_an_l4();
  // 7 GiB of activations and 1 asked for, where 7.95 fit; the free memory is in pieces.
  full.tensors = full.allocator = full.shards + full.optimizer + 7 * kGib;
  full.free = 2 * kGib;
  EXPECT_THAT(settings_that_fit(full), Contains("sharding.recompute: selective, for a little more time"));
  full.recompute = "selective";
  EXPECT_THAT(settings_that_fit(full), AllOf(Not(Contains(HasSubstr("selective"))),
                                             Contains("sharding.recompute: block, for a third more time")));
}

TEST(OutOfMemory, SaysThatNoOneSettingIsEnough) {
  FullMemory full = on_an_l4();
  full.micro_batch = 1;
  full.sequence_length = 1;
  full.recompute = "block";
  full.tensors = full.allocator = full.shards + full.optimizer + 21 * kGib;
  EXPECT_THAT(settings_that_fit(full), IsEmpty());
  EXPECT_THAT(out_of_memory_words(full), HasSubstr("no one setting is enough"));
}

TEST(OutOfMemory, CountsWhatTheProcessIsAllowed) {
  FullMemory full = on_an_l4();
  full.total = 140 * kGib;
  full.free = 140 * kGib - full.allocator - kGib;
  EXPECT_THAT(out_of_memory_words(full),
              HasSubstr("of 140 GiB free, 22.0 GiB allowed to this process. Held"));
  EXPECT_EQ(settings_that_fit(full).size(), 6u);
}

}  // namespace
}  // namespace lockstep::train
