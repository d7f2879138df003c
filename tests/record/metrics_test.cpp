#include "lockstep/record/metrics.h"

#include <gmock/gmock.h>

#include <limits>

#include "lockstep/base/error.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/memory_lines.h"

namespace lockstep::record {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

StepMetrics step_three() {
  return {.step = 3,
          .loss = 2.5,
          .tokens = 4096,
          .tokens_per_s = 1024,
          .grad_norm = 0.5,
          .lr = 0.001,
          .step_ms = 4000,
          .slowest = SlowestRank{1, 3900, "data", 2100.5},
          .peak_bytes = 1 << 20};
}

TEST(MetricsWriter, ALineHasTheKeysInOrderAndThenWhatWasReported) {
  MemoryLines file;
  StepMetrics metrics = step_three();
  metrics.reported = {{"accuracy", 0.25},
                      {"loss", 2.5}};  // the loss that the loop was given: no contradiction
  MetricsWriter(1, file, nullptr).write(metrics);
  EXPECT_THAT(
      file.lines,
      ElementsAre("{\"step\":3,\"loss\":2.5,\"tokens\":4096,\"tokens_per_s\":1024.0,\"grad_norm\":0.5,"
                  "\"lr\":0.001,\"step_ms\":4000.0,\"slowest_rank\":1,\"slowest_ms\":3900.0,\"slowest_"
                  "phase\":\"data\","
                  "\"median_rank_ms\":2100.5,\"peak_bytes\":1048576,\"accuracy\":0.25}"));
}

TEST(MetricsWriter, WhatIsNotKnownIsLeftOutAndWhatIsNotFiniteIsNull) {
  MemoryLines file;
  MetricsWriter(1, file, nullptr).write({.step = 1, .loss = std::numeric_limits<double>::quiet_NaN()});
  EXPECT_THAT(file.lines,
              ElementsAre("{\"step\":1,\"loss\":null,\"tokens\":0,\"tokens_per_s\":0.0,\"lr\":0.0,"
                          "\"step_ms\":0.0}"));
}

TEST(MetricsWriter, ALiveReaderGetsThemAsAnEvent) {
  MemoryLines file, live;
  MetricsWriter(2, file, &live).write(step_three());
  ASSERT_EQ(live.lines.size(), 1u);
  Json event = Json::parse(live.lines[0]);
  EXPECT_EQ(event["version"], 1);
  EXPECT_EQ(event["generation"], 2);
  EXPECT_EQ(event["event"], "metrics");
  for (const char* stamp : {"version", "time", "generation", "event"}) event.erase(stamp);
  EXPECT_EQ(event.dump(), file.lines.at(0));
}

TEST(MetricsWriter, ANameOfOursWithAnotherValueIsRefused) {
  MemoryLines file;
  for (const char* name : {"lr", "step", "time", "event"}) {
    StepMetrics metrics = step_three();
    metrics.reported = {{name, 7}};
    EXPECT_THAT([&] { MetricsWriter(1, file, nullptr).write(metrics); },
                ThrowsMessage<ConfigError>(
                    AllOf(HasSubstr(name), HasSubstr("7 at step 3"), HasSubstr("another name"))));
  }
  EXPECT_THAT(file.lines, IsEmpty());
}

class ReadMetricsTest : public testing::Test {
 protected:
  void write(int generation, const std::string& text) {
    run_.store().append(metrics_key(generation), storage::as_bytes(text));
  }
  // "generation:step" of each row.
  std::vector<std::string> read() const {
    std::vector<std::string> rows;
    for (const MetricsRow& row : read_metrics(run_)) {
      rows.push_back(std::to_string(row.generation) + ":" + row.values["step"].dump());
    }
    return rows;
  }

  TemporaryFolder folder_;
  RunDirectory run_ = RunDirectory::create(folder_ / "run", "");
};

TEST_F(ReadMetricsTest, WhatWasWrittenIsRead) {
  StoreLines file(run_.store(), metrics_key(1));
  MetricsWriter writer(1, file, nullptr);
  StepMetrics metrics = step_three();
  for (metrics.step = 1; metrics.step <= 3; ++metrics.step) writer.write(metrics);
  EXPECT_THAT(read(), ElementsAre("1:1", "1:2", "1:3"));
  EXPECT_EQ(read_metrics(run_)[1].values["loss"], 2.5);
}

TEST_F(ReadMetricsTest, ARunWithoutStepsHasNone) { EXPECT_THAT(read(), IsEmpty()); }

TEST_F(ReadMetricsTest, StepsThatALaterGenerationTookUpAgainCountOnce) {
  write(1, "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n{\"step\":4}\n");
  write(2, "{\"step\":3}\n{\"step\":4}\n{\"step\":5}\n");
  write(3, "");                // died before its first step
  write(4, "{\"step\":3}\n");  // its checkpoint of step 4 was damaged
  EXPECT_THAT(read(), ElementsAre("1:1", "1:2", "4:3"));
}

TEST_F(ReadMetricsTest, GenerationsAreOrderedAsNumbers) {
  write(1000, "{\"step\":2}\n");
  write(999, "{\"step\":1}\n{\"step\":2}\n");
  EXPECT_THAT(read(), ElementsAre("999:1", "1000:2"));
}

TEST_F(ReadMetricsTest, ALastLineThatACrashCutShortIsLeftOut) {
  write(1, "{\"step\":1}\n{\"step\":2,\"lo");
  EXPECT_THAT(read(), ElementsAre("1:1"));
}

TEST_F(ReadMetricsTest, ADamagedLineIsNamed) {
  for (const char* line : {"nonsense", "[]", "{\"loss\":1}", "{\"step\":\"one\"}"}) {
    run_.store().remove(metrics_key(1));
    write(1, std::string("{\"step\":1}\n") + line + "\n");
    EXPECT_THAT([&] { read(); },
                ThrowsMessage<IoError>(AllOf(HasSubstr("run/metrics/g001.jsonl"), HasSubstr("line 2"))));
  }
}

TEST_F(ReadMetricsTest, OtherFilesBesideThemAreNotRead) {
  std::ofstream(folder_ / "run/metrics-notes") << "mine";
  write(1, "{\"step\":1}\n");
  run_.store().put("metrics/graph.jsonl", storage::as_bytes("mine"));
  EXPECT_THAT(read(), ElementsAre("1:1"));
}

}  // namespace
}  // namespace lockstep::record
