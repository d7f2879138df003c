// The real program, its workers as processes over Gloo.
#include <gmock/gmock.h>

#include <sstream>

#include "lockstep/base/env_var.h"
#include "lockstep/base/json.h"
#include "lockstep/base/process.h"
#include "lockstep/launch/store_socket.h"
#include "tests/base/temporary_folder.h"
#include "tests/paths.h"

namespace lockstep::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Finished {
  int exit_code = 0;
  std::string out, err;
};

class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments,
                   std::map<std::string, std::optional<std::string>> environment = {})
      : process_(start(arguments, std::move(environment))) {}
  Finished wait() {
    const int code = process_.wait().shell_code();
    return {code, read_file(folder_ / "out"), read_file(folder_ / "err")};
  }

 private:
  Process start(const std::vector<std::string>& arguments,
                std::map<std::string, std::optional<std::string>> environment) {
    ProcessOptions options{.argv = {build_path("bin/lockstep"), "bench", "allreduce", "--device", "cpu"},
                           .environment = std::move(environment),
                           .standard_output = Output::file(folder_ / "out"),
                           .standard_error = Output::file(folder_ / "err")};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    return Process::start(options);
  }

  TemporaryFolder folder_;
  Process process_;
};

Finished run(const std::vector<std::string>& arguments) { return Program(arguments).wait(); }

struct TableRow {
  int64_t size = 0, count = 0;
  std::string type, redop;
  int root = 0;
  double time[2], algbw[2], busbw[2];
  int64_t wrong[2];
};

// The lines that are no comments, read as a program would.
std::vector<TableRow> rows_of(const std::string& text) {
  std::vector<TableRow> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    TableRow row;
    std::istringstream words(line);
    words >> row.size >> row.count >> row.type >> row.redop >> row.root;
    for (const int i : {0, 1}) words >> row.time[i] >> row.algbw[i] >> row.busbw[i] >> row.wrong[i];
    EXPECT_TRUE(words && (words >> std::ws).eof()) << line;
    rows.push_back(row);
  }
  return rows;
}

class BenchAllreduce : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(BenchAllreduce, TimesEachOperationAndFindsItsDataRight) {
  const auto [op, algorithm] = GetParam();
  const Finished finished = run({"--num-workers", "3", "--op", op, "--algorithm", algorithm, "-b", "48", "-e",
                                 "400K", "-f", "64", "-n", "2", "-w", "1"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(finished.out, HasSubstr(std::string("# Collective test starting: ") + op + "_perf\n"));
  EXPECT_THAT(finished.out, HasSubstr(std::string("# Algorithm: ") + algorithm));
  EXPECT_THAT(finished.out, HasSubstr("#  Rank  2 Group  0 Pid "));
  EXPECT_THAT(finished.out, HasSubstr("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : "));
  const auto rows = rows_of(finished.out);
  ASSERT_EQ(rows.size(), 3U) << finished.out;
  EXPECT_EQ(rows[0].size, 48);
  const bool gathers = std::string(op) == "all_gather";
  for (const TableRow& row : rows) {
    EXPECT_EQ(row.redop, gathers ? "none" : "sum");
    EXPECT_EQ(row.count * (std::string(op) == "all_reduce" ? 4 : 12), row.size);
    for (const int i : {0, 1}) {
      EXPECT_EQ(row.wrong[i], 0);
      EXPECT_GT(row.time[i], 0);
    }
  }
  const TableRow& large = rows[2];
  EXPECT_NEAR(large.algbw[0], static_cast<double>(large.size) / large.time[0] / 1e3,
              0.02 * large.algbw[0] + 0.01);
}

INSTANTIATE_TEST_SUITE_P(Gloo, BenchAllreduce,
                         testing::Combine(testing::Values("all_reduce", "all_gather", "reduce_scatter"),
                                          testing::Values("lockstep", "library")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

TEST(BenchAllreduceJson, HoldsAllOperationsAndWhatWasLeftOut) {
  const Finished finished =
      run({"--json", "--op", "all", "-b", "8", "-e", "32", "-n", "1", "--line-rate", "10"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  ASSERT_EQ(json["tests"].size(), 3U);
  EXPECT_EQ(json["tests"][0]["results"].size(), 3U);
  EXPECT_EQ(json["tests"][1]["results"].size(), 1U) << "of 2 ranks the first whole size is 32";
  EXPECT_EQ(json["algorithm"], "lockstep") << "on CPU";
  EXPECT_EQ(json["skipped"][0]["sizes"], Json({8, 16}));
  EXPECT_EQ(json["line_rate"]["gbit_per_s"], 10.0);
}

TEST(BenchAllreduceSizes, ThatDoNotFitAreLeftOutWithTheReason) {
  const Finished finished = run({"-b", "1K", "-e", "4096TiB", "-f", "4398046511104", "-n", "1"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(rows_of(finished.out).size(), 1U);
  EXPECT_THAT(finished.out,
              HasSubstr("\n# Skipped: all_reduce_perf of 4.00 PiB: a worker holds 5 buffers of a size, "));
}

TEST(BenchAllreduceUnderTorchrun, RankZeroPrintsTheTable) {
  const auto port = launch::StoreSocket::listen().port;  // free again
  std::vector<std::unique_ptr<Program>> workers;
  for (const std::string rank : {"0", "1"}) {
    workers.push_back(std::make_unique<Program>(
        std::vector<std::string>{"-b", "1M", "-e", "1M", "-n", "1"},
        std::map<std::string, std::optional<std::string>>{{"RANK", rank},
                                                          {"WORLD_SIZE", "2"},
                                                          {"LOCAL_RANK", rank},
                                                          {"LOCAL_WORLD_SIZE", "2"},
                                                          {"MASTER_ADDR", "127.0.0.1"},
                                                          {"MASTER_PORT", std::to_string(port)}}));
  }
  const Finished first = workers[0]->wait(), second = workers[1]->wait();
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(rows_of(first.out).size(), 1U);
  EXPECT_THAT(second.out, IsEmpty());
}

TEST(BenchAllreduceArguments, ThatAreWrongAreRefused) {
  EXPECT_THAT(run({"-b", "many"}).err, HasSubstr("\"many\" is no size in bytes"));
  EXPECT_THAT(run({"--num-workers", "two"}).err, HasSubstr("--num-workers is \"two\""));
  EXPECT_THAT(run({"--op", "broadcast"}).err, HasSubstr("no collective \"broadcast\""));
  EXPECT_EQ(run({"-f", "1"}).exit_code, 2);
}

}  // namespace
}  // namespace lockstep::bench
