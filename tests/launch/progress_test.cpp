#include "lockstep/launch/progress.h"

#include <gmock/gmock.h>

#include <sstream>
#include <vector>

namespace lockstep::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using Style = ProgressOptions::Style;

std::string metrics(int64_t step, double step_ms = 1000) {
  return Json{{"version", 1}, {"event", "metrics"}, {"step", step}, {"loss", 2.5}, {"step_ms", step_ms}}
      .dump();
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

TEST(Progress, OnATerminalOneLineIsRewritten) {
  std::ostringstream out;
  {
    Progress progress({.style = Style::kLive, .total_steps = 2}, out);
    progress.show(metrics(1));
    progress.show(metrics(2));
  }
  EXPECT_EQ(out.str(),
            "\rstep 1/2  loss 2.5000  0:01 left\x1b[K"
            "\rstep 2/2  loss 2.5000  0:00 left\x1b[K\n");
}

TEST(Progress, AnEventLeavesTheLiveLineAndStartsItsOwn) {
  std::ostringstream out;
  Progress progress({.style = Style::kLive}, out);
  progress.show(metrics(1));
  progress.show(R"({"event":"checkpoint","step":1})");
  EXPECT_THAT(out.str(), HasSubstr("loss 2.5000\x1b[K\ncheckpoint: step 1\n"));
}

TEST(Progress, ALiveLineThatIsTooLongLosesWhatIsNeededLeast) {
  const std::string line =
      R"({"event":"metrics","step":1,"loss":2.5,"grad_norm":1,"lr":0.01,"step_ms":1000,"peak_bytes":1024})";
  const auto shown_in = [&](int columns) {
    std::ostringstream out;
    Progress progress({.style = Style::kLive, .columns = columns, .total_steps = 3}, out);
    progress.show(line);
    return out.str();
  };
  EXPECT_EQ(shown_in(75), "\rstep 1/3  loss 2.5000  grad norm 1  lr 1.00e-02  1.00 KiB  0:02 left\x1b[K");
  EXPECT_EQ(shown_in(65), "\rstep 1/3  loss 2.5000  grad norm 1  lr 1.00e-02  0:02 left\x1b[K");
  EXPECT_EQ(shown_in(45), "\rstep 1/3  loss 2.5000  0:02 left\x1b[K");
  EXPECT_EQ(shown_in(11), "\rstep 1/3  \x1b[K");
}

TEST(Progress, InAFileAShortRunHasALineForEachStep) {
  std::ostringstream out;
  Progress progress({.total_steps = 20}, out);
  for (int step = 1; step <= 20; ++step) progress.show(metrics(step, 1));
  EXPECT_THAT(lines(out.str()), SizeIs(20));
}

TEST(Progress, InAFileALongRunHasTheFirstTheLastAndSomeBetween) {
  std::ostringstream out;
  Progress progress({.total_steps = 1010}, out);
  for (int step = 1; step <= 1010; ++step) progress.show(metrics(step, 1));
  const auto shown = lines(out.str());
  EXPECT_THAT(shown, SizeIs(1 + 20 + 1));
  EXPECT_THAT(shown.front(), StartsWith("step 1/"));
  EXPECT_THAT(shown[1], StartsWith("step 50/"));
  EXPECT_THAT(shown.back(), StartsWith("step 1010/"));
}

TEST(Progress, InAFileSlowStepsShowEveryTenSeconds) {
  std::ostringstream out;
  Progress progress({.total_steps = 1'000'000}, out);
  for (int step = 1; step <= 9; ++step) progress.show(metrics(step, 4000));
  const auto shown = lines(out.str());
  ASSERT_THAT(shown, SizeIs(3));
  EXPECT_THAT(shown[1], StartsWith("step 4/"));
  EXPECT_THAT(shown[2], StartsWith("step 7/"));
}

TEST(Progress, TheTotalComesWithTheStart) {
  std::ostringstream out;
  Progress progress({}, out);
  progress.show(R"({"event":"started","steps":40})");
  progress.show(metrics(2));
  EXPECT_THAT(out.str(), HasSubstr("step 2/40"));
}

TEST(Progress, TimeLeftForgetsASlowFirstStep) {
  std::ostringstream out;
  Progress progress({.total_steps = 12}, out);
  progress.show(metrics(1, 60'000));
  progress.show(metrics(2, 1000));
  EXPECT_THAT(out.str(), HasSubstr("step 2/12  loss 2.5000  0:10 left"));
}

TEST(Progress, AsJsonEveryLinePassesUntouched) {
  std::ostringstream out;
  Progress progress({.style = Style::kJson}, out);
  progress.show(metrics(1));
  progress.say("for people");
  progress.show(R"({ "event" : "x" })");
  EXPECT_THAT(lines(out.str()), ElementsAre(metrics(1), R"({ "event" : "x" })"));
}

TEST(Progress, QuietSaysNothing) {
  std::ostringstream out;
  Progress progress({.style = Style::kQuiet}, out);
  progress.show(metrics(1));
  progress.say("for people");
  progress.end_line();
  EXPECT_THAT(out.str(), IsEmpty());
}

TEST(Progress, ALineThatIsNoJsonIsShownAsItIs) {
  std::ostringstream out;
  Progress progress({}, out);
  progress.show("from a library");
  EXPECT_EQ(out.str(), "from a library\n");
}

}  // namespace
}  // namespace lockstep::launch
