#include "lockstep/launch/event_text.h"

#include <gmock/gmock.h>

namespace lockstep::launch {
namespace {

TEST(MetricsText, SaysAllThatIsKnownInOneLine) {
  const Json metrics = {
      {"step", 12},         {"loss", 4.83117}, {"tokens", 512},    {"tokens_per_s", 1234.5},
      {"grad_norm", 1.234}, {"lr", 0.0098},    {"step_ms", 415.0}, {"peak_bytes", 1288490189}};
  EXPECT_EQ(metrics_text(metrics, 20, 3.3),
            "step 12/20  loss 4.8312  1.2k tokens/s  grad norm 1.23  lr 9.80e-03  1.20 GiB  0:03 left");
}

TEST(MetricsText, LeavesOutWhatIsNotThere) {
  EXPECT_EQ(metrics_text({{"step", 3}, {"loss", 1.0}}, std::nullopt, std::nullopt), "step 3  loss 1.0000");
}

TEST(MetricsText, AddsWhatATrainFunctionReports) {
  EXPECT_EQ(metrics_text({{"step", 3}, {"accuracy", 0.75}}, std::nullopt, std::nullopt),
            "step 3  accuracy 0.75");
}

TEST(MetricsText, ALossThatIsNotFiniteIsSaidSo) {
  EXPECT_EQ(metrics_text({{"step", 3}, {"loss", nullptr}}, std::nullopt, std::nullopt), "step 3  loss nan");
}

TEST(EventText, AnEvaluationReadsAsASentence) {
  EXPECT_EQ(event_text({{"version", 1},
                        {"event", "evaluation"},
                        {"when", "before"},
                        {"step", 0},
                        {"source", "held_out"},
                        {"loss", 3.41203},
                        {"tokens", 8123}}),
            "evaluation before training: held_out loss 3.4120 over 8123 tokens");
  EXPECT_EQ(event_text({{"event", "evaluation"},
                        {"when", "during"},
                        {"step", 200},
                        {"source", "held_out"},
                        {"loss", 3.0}}),
            "evaluation at step 200: held_out loss 3.0000");
}

TEST(EventText, AnAnswerStandsUnderItsPrompt) {
  EXPECT_EQ(
      event_text(
          {{"event", "answer"}, {"when", "after"}, {"prompt", "Define \"violin\"."}, {"text", "a fiddle"}}),
      "answer after training\n  > Define \"violin\".\n  a fiddle");
}

TEST(EventText, AModelSaysItsSize) {
  EXPECT_EQ(
      event_text(
          {{"event", "model"}, {"parameters", 134'515'008}, {"units", {{{"name", "a"}}, {{"name", "b"}}}}}),
      "model: 135M parameters in 2 units");
}

TEST(EventText, AnEventWithoutWordsOfItsOwnGivesItsFields) {
  EXPECT_EQ(event_text({{"version", 1},
                        {"time", "2026-01-02T03:04:05.678Z"},
                        {"generation", 2},
                        {"event", "checkpoint"},
                        {"step", 20},
                        {"path", "checkpoints/step-00000020.g002"},
                        {"seconds", 5.2125416994},
                        {"hosts", {"a", "b"}}}),
            "checkpoint: step 20, path checkpoints/step-00000020.g002, seconds 5.21254");
  EXPECT_EQ(event_text({{"event", "ready"}}), "ready");
}

TEST(DurationText, AsAClockShowsIt) {
  EXPECT_EQ(duration_text(7.4), "0:07");
  EXPECT_EQ(duration_text(754), "12:34");
  EXPECT_EQ(duration_text(11045), "3:04:05");
}

TEST(CountText, KeepsTwoDigits) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(12.3), "12");
  EXPECT_EQ(count_text(999.4), "999");
  EXPECT_EQ(count_text(999.6), "1.0k");
  EXPECT_EQ(count_text(1234), "1.2k");
  EXPECT_EQ(count_text(34'567), "35k");
  EXPECT_EQ(count_text(5'600'000), "5.6M");
}

}  // namespace
}  // namespace lockstep::launch
