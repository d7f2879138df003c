#include "lockstep/bench/report_text.h"

#include <gmock/gmock.h>

#include <sstream>

namespace lockstep::bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Report two_ranks() {
  Report report;
  report.gpu = true;
  report.ranks = {{0, 101, "node-1", 0, "0000:19:00", "NVIDIA H200"},
                  {1, 102, "node-2", 0, "0000:19:00", "NVIDIA H200"}};
  report.one_host = false;
  return report;
}

// 1 GiB in 10 ms: 107.37 GB/s; the bus bandwidth of two ranks is the same.
const Row kRow = {{int64_t{1} << 30, 1 << 28}, {0.010, 0}, {0.0125, 3}};

TEST(ReportText, ARowHasTheColumnsOfNcclTests) {
  EXPECT_EQ(row_text(kRow, Operation::kAllReduce, 2),
            "  1073741824     268435456     float     sum      -1  10000.0  107.37  107.37       0"
            "  12500.0   85.90   85.90       3");
}

TEST(ReportText, TheHeadingStandsOverTheColumns) {
  std::istringstream lines(columns_text(two_ranks(), Operation::kAllGather));
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  EXPECT_EQ(all.at(1), "# Collective test starting: all_gather_perf");
  EXPECT_EQ(all.at(all.size() - 2),
            "#       size         count      type   redop    root     time   algbw   busbw  #wrong"
            "     time   algbw   busbw  #wrong");
  EXPECT_EQ(all.back(),
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)"
            "             (us)  (GB/s)  (GB/s)");
  EXPECT_EQ(all.at(all.size() - 2).size(), row_text(kRow, Operation::kAllGather, 2).size());
}

TEST(ReportText, NumbersKeepTheirColumnsWidth) {
  const auto time_of = [](double microseconds) {
    const Row row = {{8, 2}, {microseconds * 1e-6, 0}, {1, 0}};
    return row_text(row, Operation::kAllReduce, 2).substr(54, 7);
  };
  EXPECT_EQ(time_of(0.5), "   0.50");
  EXPECT_EQ(time_of(9999.4), "9999.40");
  EXPECT_EQ(time_of(12345.6), "12345.6");
  EXPECT_EQ(time_of(123456.7), " 123457");
  EXPECT_EQ(time_of(1234567.8), "1234568");
  EXPECT_EQ(time_of(12345678.9), "1.2e+07");
}

TEST(ReportText, EveryRankHasALine) {
  EXPECT_THAT(head_text(two_ranks()),
              HasSubstr("\n#  Rank  0 Group  0 Pid    101 on     node-1 device  0 [0000:19:00] NVIDIA H200\n"
                        "#  Rank  1 Group  0 Pid    102 on     node-2 device  0 [0000:19:00] NVIDIA H200"));
  EXPECT_THAT(head_text(two_ranks()), HasSubstr("# Algorithm: library, the collectives of NCCL itself"));
}

TEST(ReportText, TheFootFoldsAllRowsAndJudgesByTheLineRate) {
  Report report = two_ranks();
  const OperationReport operation = {Operation::kAllReduce, {kRow}};
  EXPECT_THAT(foot_text(report, operation),
              HasSubstr("# Out of bounds values : 3 FAILED\n"
                        "# Avg bus bandwidth    : 96.6368\n"
                        "# Line rate            : not known, --line-rate gives it\n"));
  report.line_rate = {1000, "--line-rate"};
  EXPECT_THAT(foot_text(report, operation),
              HasSubstr("1000 Gbit/s = 125 GB/s (--line-rate), best bus bandwidth 85.9 % of it\n"));
  report.one_host = true;
  EXPECT_THAT(foot_text(report, operation), HasSubstr("1000 Gbit/s")) << "given, so meant";
  report.line_rate.reset();
  EXPECT_THAT(foot_text(report, operation), HasSubstr("none, all ranks are on one host"));
  EXPECT_THAT(foot_text(report, operation), EndsWith("# Collective test concluded: all_reduce_perf"));
}

TEST(ReportText, WhatWasLeftOutIsSaidWithItsReason) {
  Report report = two_ranks();
  EXPECT_EQ(skipped_text(report), "");
  report.skipped = {{Operation::kAllGather, {8, 16}, "too small"},
                    {Operation::kAllReduce, {int64_t{8} << 30}, "too large"}};
  EXPECT_EQ(skipped_text(report),
            "# Skipped: all_gather_perf of 8 B, 16 B: too small\n"
            "# Skipped: all_reduce_perf of 8.00 GiB: too large");
}

TEST(ReportJson, HasTheRowsAndWhatTheyAreJudgedBy) {
  Report report = two_ranks();
  report.line_rate = {100, "/sys/class/net/eth0/speed"};
  report.operations = {{Operation::kAllReduce, {kRow}}};
  const Json json = to_json(report);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["backend"], "nccl");
  EXPECT_EQ(json["line_rate"]["gbit_per_s"], 100);
  EXPECT_EQ(json["config"]["devices"][1]["hostname"], "node-2");
  const Json& test = json["tests"][0];
  EXPECT_EQ(test["name"], "all_reduce_perf");
  EXPECT_EQ(test["results"][0]["size"], 1 << 30);
  EXPECT_DOUBLE_EQ(test["results"][0]["out_of_place"]["time"].get<double>(), 10000);
  EXPECT_EQ(test["results"][0]["in_place"]["nwrong"], 3);
  EXPECT_EQ(test["out_of_bounds"]["okay"], false);
}

}  // namespace
}  // namespace lockstep::bench
