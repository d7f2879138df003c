// What each rank spent itself, who was slowest, and how the ranks learn of it.
#include "lockstep/train/straggler.h"

#include <ATen/ops/scalar_tensor.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <thread>

#include "lockstep/comm/run_ranks.h"
#include "lockstep/train/step_exchange.h"

namespace lockstep::train {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

TEST(PhaseClock, CountsEachPhaseUntilTheNextOneBegins) {
  std::chrono::nanoseconds now{0};
  PhaseClock clock([&] { return now; });
  now += milliseconds(1);  // before the first phase
  clock.enter(Phase::kData);
  now += milliseconds(2);
  clock.enter(Phase::kForward);
  now += milliseconds(4);
  clock.pause();
  now += milliseconds(8);
  clock.enter(Phase::kForward);
  now += milliseconds(16);
  EXPECT_THAT(clock.take(), ElementsAre(2, 20, 0, 0, 0));
  now += milliseconds(32);
  EXPECT_THAT(clock.take(), ElementsAre(0, 32, 0, 0, 0));
}

TEST(PhaseClock, TimeThatARankWaitsForOthersIsNotItsOwn) {
  std::vector<double> own_ms(2);
  comm::run_mesh(2, 2, [&](comm::Mesh& mesh) {
    PhaseClock clock;
    clock.enter(Phase::kForward);
    if (mesh.rank() == 1) std::this_thread::sleep_for(milliseconds(300));
    mesh.world().barrier();
    own_ms[static_cast<size_t>(mesh.rank())] = clock.take()[static_cast<size_t>(Phase::kForward)];
  });
  EXPECT_GE(own_ms[1], 300);
  EXPECT_LT(own_ms[0], own_ms[1]);
}

TEST(Straggler, IsTheRankWithTheMostTimeInThePhaseThatSetsItApart) {
  const std::vector<PhaseTimes> ranks = {
      {5, 100, 200, 10, 1}, {45, 101, 199, 10, 1}, {5, 99, 201, 11, 1}, {6, 103, 202, 10, 1}};
  const record::SlowestRank slowest = slowest_of(ranks);
  EXPECT_EQ(slowest.rank, 1);
  EXPECT_EQ(slowest.phase, "data");  // though backward takes it longer
  EXPECT_EQ(slowest.ms, 356);
  EXPECT_EQ(slowest.median_ms, 317);
}

TEST(Straggler, OfTwoRanksTheFasterIsTheMeasure) {
  const record::SlowestRank slowest =
      slowest_of(std::vector<PhaseTimes>{{0, 10, 30, 5, 0}, {0, 10, 20, 5, 0}});
  EXPECT_EQ(slowest.rank, 0);
  EXPECT_EQ(slowest.phase, "backward");
  EXPECT_EQ(slowest.median_ms, 35);
}

TEST(StepExchange, EveryRankLearnsWhatAllHaveToSay) {
  comm::run_mesh(3, 3, [](comm::Mesh& mesh) {
    const int rank = mesh.rank();
    RankNews mine{.stop_signal = rank == 2   ? SIGTERM
                                 : rank == 1 ? SIGINT
                                             : 0,
                  .saving = {.written = 1, .failed = rank == 1 ? 1.0 : 0.0},
                  .half_hour_is_over = rank == 1};  // not by rank 0's clock
    mine.times.fill(rank + 0.5);
    const StepNews news =
        read_news(exchange(mesh, at::scalar_tensor(rank + 0.25, at::kDouble), mine), mesh.world_size());
    EXPECT_EQ(news.loss, 3.75);
    EXPECT_EQ(news.stop_signal, SIGTERM);
    EXPECT_EQ(news.saving.written, 3);
    EXPECT_EQ(news.saving.failed, 1);
    EXPECT_EQ(news.saving.committed, 0);
    EXPECT_FALSE(news.half_hour_is_over);
    EXPECT_THAT(news.times, ElementsAre(::testing::Each(0.5), ::testing::Each(1.5), ::testing::Each(2.5)));
  });
}

}  // namespace
}  // namespace lockstep::train
