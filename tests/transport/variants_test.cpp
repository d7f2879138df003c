// Logs arrive shuffled, prefixed, coloured, cut and glued. Whatever is done to a log, what it
// shows must not become a pass that the whole log does not give.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "lockstep/transport/log_record.h"
#include "tests/transport/log_files.h"
#include "tests/transport/sanitized.h"

namespace lockstep::transport {
namespace {

using Lines = std::vector<std::string>;

constexpr uint32_t kVariants = variants(200);

bool is_pass(Transport transport) {
  return transport == Transport::kEfa || transport == Transport::kIb || transport == Transport::kRoce;
}

class Variants : public testing::TestWithParam<ExpectedRow> {
 protected:
  const ExpectedRow& row() const { return GetParam(); }
  Lines lines() const { return lines_of(log_text(row().file)); }

  // A pass must be the whole log's. The only whole log with a pass in a part of it is the one
  // whose second communicator, which comes last, is over TCP.
  void expect_no_wrong_pass(const std::string& text, const std::string& how) const {
    const JobVerdict verdict = verdict_on(text);
    if (!is_pass(verdict.transport)) return;
    const bool second_comm_is_cut = row().file.starts_with("a25") &&
                                    text.find("Using network Socket") == text.npos &&
                                    text.find("c0ffee") == text.npos && text.find("NET/Socket/") == text.npos;
    if (second_comm_is_cut) return;
    EXPECT_EQ(word(verdict.transport), row().transport) << row().file << " " << how << ": " << verdict.reason;
  }

  void expect_the_same(const std::string& text, const std::string& how) const {
    EXPECT_EQ(columns_of(row().file, verdict_on(text)), row().columns) << how;
  }

  // Ray's counts and glued lines belong to the order in which they stand.
  bool is_bound_to_its_order() const {
    return row().file.starts_with("a11") || row().file.starts_with("a22");
  }
};

// Each process' lines in order, lines without one where they stood relative to the first process.
std::vector<Lines> by_process(const Lines& lines) {
  std::map<std::string, size_t> index;
  std::vector<Lines> processes(1);
  std::string scratch;
  for (const std::string& line : lines) {
    const auto record = parse_log_record(line, scratch);
    size_t at = 0;
    if (record && !record->host.empty())
      at = index.try_emplace(fmt::format("{}:{}", record->host, record->pid), processes.size()).first->second;
    if (at == processes.size()) processes.emplace_back();
    processes[at].push_back(line);
  }
  return processes;
}

std::string shuffled(std::vector<Lines> processes, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<size_t> next(processes.size(), 0), open;
  for (size_t i = 0; i < processes.size(); ++i) {
    if (!processes[i].empty()) open.push_back(i);
  }
  std::string text;
  while (!open.empty()) {
    const size_t pick = random() % open.size(), process = open[pick];
    // Some ranks run ahead of others: a few lines at a time.
    for (size_t left = 1 + random() % 5; left > 0 && next[process] < processes[process].size(); --left)
      text += processes[process][next[process]++] + "\n";
    if (next[process] == processes[process].size()) open.erase(open.begin() + static_cast<ptrdiff_t>(pick));
  }
  return text;
}

TEST_P(Variants, RanksInAnyOrderGiveTheSame) {
  if (is_bound_to_its_order()) GTEST_SKIP();
  const auto processes = by_process(lines());
  for (uint32_t seed = 0; seed < kVariants; ++seed)
    expect_the_same(shuffled(processes, seed), fmt::format("seed {}", seed));
}

TEST_P(Variants, AFileForEachRankGivesTheSame) {
  if (is_bound_to_its_order()) GTEST_SKIP();
  LogEvidence evidence;
  for (const Lines& process : by_process(lines())) {
    evidence.begin_source("rank.log");
    evidence.add(joined(process));
    evidence.end_source();
  }
  EXPECT_EQ(columns_of(row().file, judge(evidence)), row().columns);
}

TEST_P(Variants, EvidenceOfEachRankBroughtTogetherGivesTheSame) {
  if (is_bound_to_its_order()) GTEST_SKIP();
  LogEvidence all;
  for (const Lines& process : by_process(lines())) {
    LogEvidence evidence;
    evidence.begin_source("rank.log");
    evidence.add(joined(process));
    evidence.end_source();
    all.absorb(std::move(evidence));
  }
  EXPECT_EQ(columns_of(row().file, judge(all)), row().columns);
}

TEST_P(Variants, WhatCollectorsAddChangesNothing) {
  const std::pair<const char*, const char*> around[] = {
      {"2026-02-03T10:00:00.123456789Z ", ""},
      {"2026-02-03T10:00:00.123456789Z stdout F ", ""},
      {"[default3]:", ""},
      {"[rank3]: ", ""},
      {"[1,15]<stdout>:", ""},
      {"3: ", ""},
      {"ip-10-0-0-1: ", ""},
      {" | 2025-01-01T00:00:00.000-07:00 | ", ""},
      {"\x1b[36m", "\x1b[0m"},
      {"\x1b[1;32mtrain-0\x1b[0m \x1b[38;5;12mworker\x1b[0m ", ""},
      {"\r 50%|#####     | 10/20 [00:01<00:01]\r", "\r"},
      {"{\"log\":\"", "\\n\",\"stream\":\"stdout\",\"time\":\"2026-02-03T10:00:00.1Z\"}"},
      {"[2026-02-03 10:00:00] ", ""},
  };
  for (const auto& [before, after] : around) {
    std::string text;
    for (const std::string& line : lines()) text += before + line + after + "\n";
    expect_the_same(text, before);
  }
}

TEST_P(Variants, PodsInKubectlsPrefixChangeNothing) {
  if (is_bound_to_its_order()) GTEST_SKIP();
  std::string text, scratch;
  for (const std::string& line : lines()) {
    const auto record = parse_log_record(line, scratch);
    const std::string pod = record && !record->host.empty() ? std::string(record->host) : "node-0";
    text += fmt::format("[pod/train-{}/worker] 2026-02-03T10:00:00Z {}\n", pod, line);
  }
  expect_the_same(text, "pods");
}

TEST_P(Variants, CutAfterEachLineIsNoWrongPass) {
  const Lines all = lines();
  std::string text;
  // Every line of short logs, 200 places of long ones.
  const size_t step = std::max<size_t>(1, all.size() / kVariants);
  for (size_t i = 0; i < all.size(); ++i) {
    text += all[i] + "\n";
    if (i % step == 0) expect_no_wrong_pass(text, fmt::format("cut after line {}", i + 1));
  }
}

TEST_P(Variants, CutAtAnyByteIsNoWrongPass) {
  const std::string text = log_text(row().file);
  std::mt19937 random(1);
  for (int i = 0; i < variants(200); ++i) {
    const size_t at = random() % text.size();
    expect_no_wrong_pass(text.substr(0, at), fmt::format("cut at byte {}", at));
    expect_no_wrong_pass(text.substr(0, at) + "\n", fmt::format("cut at byte {} with a newline", at));
    expect_no_wrong_pass(text.substr(at), fmt::format("from byte {}", at));
  }
}

TEST_P(Variants, LostLinesAreNoWrongPass) {
  const Lines all = lines();
  std::mt19937 random(2);
  for (int i = 0; i < variants(200); ++i) {
    std::string text;
    const uint32_t keep = 40 + random() % 60;  // percent
    for (const std::string& line : all) {
      if (random() % 100 < keep) text += line + "\n";
    }
    expect_no_wrong_pass(text, fmt::format("{} % of the lines, variant {}", keep, i));
  }
}

TEST_P(Variants, LostProcessesAreNoWrongPass) {
  const auto processes = by_process(lines());
  if (processes.size() == 1) GTEST_SKIP() << "no line names a process";
  std::mt19937 random(3);
  for (int i = 0; i < variants(200); ++i) {
    auto left = processes;
    for (size_t lost = 1 + random() % 3; lost > 0; --lost) left[1 + random() % (left.size() - 1)].clear();
    expect_no_wrong_pass(shuffled(left, static_cast<uint32_t>(i)), fmt::format("variant {}", i));
  }
}

// Blocks of several writers into one pipe, cut where they end: in the middle of lines.
std::string piped(const std::vector<Lines>& processes, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::string> left;
  for (const Lines& process : processes) left.push_back(joined(process));
  std::string text;
  for (bool more = true; more;) {
    more = false;
    std::shuffle(left.begin(), left.end(), random);
    for (std::string& stream : left) {
      const size_t size = std::min<size_t>(stream.size(), 500 + random() % 1500);
      text += stream.substr(0, size);
      stream.erase(0, size);
      more = more || !stream.empty();
    }
  }
  return text;
}

TEST_P(Variants, PipeBlocksAreNoWrongPass) {
  const auto processes = by_process(lines());
  for (uint32_t seed = 0; seed < kVariants; ++seed)
    expect_no_wrong_pass(piped(processes, seed), fmt::format("seed {}", seed));
}

INSTANTIATE_TEST_SUITE_P(All, Variants, testing::ValuesIn(expected_rows()), [](const auto& info) {
  return info.param.file.substr(0, info.param.file.find('_'));
});

}  // namespace
}  // namespace lockstep::transport
