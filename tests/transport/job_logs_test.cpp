#include "lockstep/transport/job_logs.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/transport/verdict.h"
#include "tests/base/temporary_folder.h"
#include "tests/paths.h"
#include "tests/transport/fake_job.h"
#include "tests/transport/log_files.h"

namespace lockstep::transport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string write(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder / name;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
  return path;
}

std::vector<std::string> a_file_for_each_rank(const TemporaryFolder& folder, const FakeJob& job) {
  std::vector<std::string> paths;
  for (const auto& lines : lines_by_process(run(job)))
    paths.push_back(write(folder, "rank-" + std::to_string(paths.size()) + ".log", joined(lines)));
  return paths;
}

TEST(JobLogs, FilesOfRanksAreOneJob) {
  const TemporaryFolder folder;
  const auto paths = a_file_for_each_rank(folder, {});
  const auto jobs = read_job_logs(paths);
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_EQ(jobs[0].name(), paths[0] + " and 3 more");
  const JobVerdict verdict = judge(jobs[0].evidence);
  EXPECT_EQ(verdict.transport, Transport::kEfa);
  EXPECT_EQ(verdict.level, Level::kConnected);
  EXPECT_EQ(verdict.sources, paths);
  EXPECT_THAT(read_file(verdict.sources[verdict.proof[0].source]), HasSubstr(verdict.proof[0].text));
}

TEST(JobLogs, WholeLogsAreJobsOfTheirOwn) {
  std::vector<std::string> paths;
  for (const ExpectedRow& row : expected_rows()) paths.push_back(test_data("transport/" + row.file));
  EXPECT_THAT(read_job_logs(paths), SizeIs(25));
}

TEST(JobLogs, RanksOfTwoJobsStayApart) {
  const TemporaryFolder folder;
  auto paths = a_file_for_each_rank(folder, {});
  paths.pop_back();  // not all of its ranks
  const std::string other = write(folder, "other.log", text_of(run({.net = "Socket", .provider = ""})));
  paths.push_back(other);
  EXPECT_THAT(read_job_logs(paths), SizeIs(4));
}

TEST(JobLogs, AFolderIsOneJobWithAllThatIsInIt) {
  const TemporaryFolder folder;
  a_file_for_each_rank(folder, {});
  const auto lines = lines_by_process(run({.hosts = 1}));
  write(folder, ".hidden/x.log", text_of(run({.net = "Socket", .provider = ""})));
  write(folder, "deep/er/notes.txt", "nothing of NCCL\n");
  const auto jobs = read_job_logs({folder.path()});
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_EQ(judge(jobs[0].evidence).transport, Transport::kEfa);
  EXPECT_THAT(jobs[0].evidence.sources(), SizeIs(5));
}

TEST(JobLogs, ALogThatWasRotatedIsReadTogether) {
  const TemporaryFolder folder;
  int index = 0;
  for (const auto& lines : lines_by_process(run({}))) {
    const auto middle = lines.begin() + static_cast<ptrdiff_t>(lines.size()) - 3;
    const std::string name = "rank-" + std::to_string(index++) + ".log";
    write(folder, name + ".1", joined({lines.begin(), middle}));
    write(folder, name, joined({middle, lines.end()}));
  }
  const JobVerdict verdict = judge(read_job_logs({folder.path()})[0].evidence);
  EXPECT_EQ(verdict.transport, Transport::kEfa) << verdict.reason;
  EXPECT_EQ(verdict.level, Level::kConnected);
}

TEST(JobLogs, TheSameLogTwiceCountsOnce) {
  const TemporaryFolder folder;
  auto processes = run({});
  processes.erase(processes.begin() + 2, processes.end());
  write(folder, "stdout.log", text_of(processes));
  write(folder, "nccl.log", text_of(processes));
  EXPECT_EQ(judge(read_job_logs({folder.path()})[0].evidence).transport, Transport::kUnknown);
}

TEST(JobLogs, WhatIsNotThereIsNamed) {
  const TemporaryFolder folder;
  try {
    read_job_logs({folder / "no.log"});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no.log: no such file or folder"));
  }
  EXPECT_THROW(read_job_logs({folder.path()}), ConfigError);
}

}  // namespace
}  // namespace lockstep::transport
