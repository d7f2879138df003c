#include "lockstep/cluster/job_follower.h"

#include <gmock/gmock.h>

#include <optional>

#include "tests/cluster/ray_server.h"

namespace lockstep::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

// Follows job "j"; between two looks the next of `steps` happens, and after the last nothing more.
struct Following : JobFollowing {
  explicit Following(std::vector<std::function<void()>> steps) : steps(std::move(steps)) {
    log = [this](std::string_view lines) { heard.emplace_back(lines); };
    note = [this](const std::string& line) { notes.push_back(line); };
    pause = [this](std::chrono::milliseconds) {
      if (next == this->steps.size()) return true;
      this->steps[next++]();
      return false;
    };
  }

  std::vector<std::function<void()>> steps;
  size_t next = 0;
  std::vector<std::string> heard, notes;
};

class Follow : public testing::Test {
 protected:
  void set(const std::string& status, const std::string& log, const Json& exit_code = nullptr) {
    server_->with([&](FakeRay& ray) {
      ray.jobs["j"] = job_json("j", status, exit_code);
      ray.logs["j"] = log;
    });
  }

  std::optional<RayServer> server_{std::in_place};
  RayClient client_{server_->address(), std::nullopt};
};

TEST_F(Follow, HandsOnWholeLinesOnceAndTheLastOfThemWithoutItsEnd) {
  set("PENDING", "");
  Following following({[&] { set("RUNNING", "one\ntw"); }, [&] { set("RUNNING", "one\ntwo\n"); },
                       [&] { set("FAILED", "one\ntwo\nthree", 3); }});
  const auto job = follow_job(client_, "j", following);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->exit_code(), 3);
  EXPECT_THAT(following.heard, ElementsAre("one\n", "two\n", "three"));
  EXPECT_THAT(following.notes, IsEmpty());
}

TEST_F(Follow, ALostConnectionIsSaidOnceAndFoundAgain) {
  set("RUNNING", "one\n");
  const int port = server_->port();
  Following following({[&] { server_.reset(); }, [] {},
                       [&] {
                         server_.emplace(port);
                         set("SUCCEEDED", "one\ntwo\n", 0);
                       }});
  const auto job = follow_job(client_, "j", following);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->exit_code(), 0);
  EXPECT_THAT(following.heard, ElementsAre("one\n", "two\n"));
  EXPECT_THAT(following.notes, ElementsAre(HasSubstr("trying again"), HasSubstr("answers again")));
}

TEST_F(Follow, TroubleOfRaysOwnIsWaitedOut) {
  set("RUNNING", "one\n");
  const auto fail_with = [&](int status) {
    server_->with([&](FakeRay& ray) { ray.failing_status = status; });
  };
  Following following({[&] { fail_with(500); },
                       [&] {
                         fail_with(0);
                         set("SUCCEEDED", "one\n", 0);
                       }});
  ASSERT_TRUE(follow_job(client_, "j", following));
  EXPECT_THAT(following.notes, ElementsAre(HasSubstr("status 500"), HasSubstr("answers again")));
}

TEST_F(Follow, PatienceEndsWithAWayBack) {
  server_.reset();
  Following following(std::vector<std::function<void()>>(100, [] {}));
  following.patience = std::chrono::seconds(0);
  EXPECT_THAT(
      [&] { follow_job(client_, "j", following); },
      ThrowsMessage<NoAnswerError>(HasSubstr("lockstep jobs logs j -f --ray-address http://127.0.0.1:")));
}

TEST_F(Follow, StopsWhenItIsTold) {
  set("RUNNING", "one\n");
  Following following({});
  EXPECT_FALSE(follow_job(client_, "j", following));
  EXPECT_THAT(following.heard, ElementsAre("one\n"));
}

RayJob ended(const std::string& status, const Json& driver_exit_code) {
  return ray_job_from(job_json("j", status, driver_exit_code));
}

TEST(RayJob, EndsWithItsDriversCodeAsAShellGivesIt) {
  EXPECT_EQ(ended("SUCCEEDED", 0).exit_code(), 0);
  EXPECT_EQ(ended("FAILED", 12).exit_code(), 12);
  EXPECT_EQ(ended("FAILED", -9).exit_code(), 137);
  EXPECT_EQ(ended("FAILED", nullptr).exit_code(), 8);
  EXPECT_EQ(ended("STOPPED", nullptr).exit_code(), 12);
  EXPECT_EQ(ended("FAILED", -9).outcome(), "FAILED: ended by signal 9");
  EXPECT_FALSE(ended("RUNNING", nullptr).is_over());
}

TEST(RayJob, TheTableNamesIdStatusCodeTimeAndRun) {
  EXPECT_EQ(to_table({ended("FAILED", 3)}),
            "id  status     code  start                     time        run\n"
            "j   FAILED     3     2026-01-02T03:04:05.678Z  10.0 s      /fsx/runs/x\n");
}

}  // namespace
}  // namespace lockstep::cluster
