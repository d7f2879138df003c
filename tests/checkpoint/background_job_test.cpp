#include "lockstep/checkpoint/background_job.h"

#include <gtest/gtest.h>

#include <future>

namespace lockstep::checkpoint {
namespace {

using State = BackgroundJob::State;
using std::chrono::seconds;

TEST(BackgroundJob, RunsBesideItsOwner) {
  BackgroundJob job;
  EXPECT_EQ(job.state(), State::kIdle);
  std::promise<void> go_on;
  int result = 0;
  job.start([&] {
    go_on.get_future().wait();
    result = 7;
  });
  EXPECT_EQ(job.state(), State::kRunning);
  EXPECT_FALSE(job.wait_for(std::chrono::milliseconds(1)));
  go_on.set_value();
  EXPECT_TRUE(job.wait_for(seconds(60)));
  EXPECT_EQ(job.state(), State::kDone);
  EXPECT_EQ(result, 7);
}

TEST(BackgroundJob, KeepsWhatItThrew) {
  BackgroundJob job;
  job.start([] { throw IoError("the disk is full"); });
  ASSERT_TRUE(job.wait_for(seconds(60)));
  EXPECT_EQ(job.state(), State::kFailed);
  EXPECT_EQ(job.error(), "the disk is full");
  EXPECT_TRUE(job.failed_with(ExitCode::kStorage));
  EXPECT_FALSE(job.failed_with(ExitCode::kGuard));
  job.reset();
  EXPECT_EQ(job.state(), State::kIdle);
  EXPECT_EQ(job.error(), "");
}

TEST(BackgroundJob, ManyOneAfterTheOther) {
  BackgroundJob job;
  int sum = 0;
  for (int i = 0; i < 200; ++i) {
    job.start([&] { sum += i; });
    ASSERT_TRUE(job.wait_for(seconds(60)));
    job.reset();
  }
  EXPECT_EQ(sum, 199 * 200 / 2);
}

}  // namespace
}  // namespace lockstep::checkpoint
