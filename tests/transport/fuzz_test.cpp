// Whatever comes as a log gets a verdict: never a crash, never a pass that the log does not give.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "lockstep/transport/verdict_json.h"
#include "lockstep/transport/verdict_text.h"
#include "tests/transport/log_files.h"
#include "tests/transport/sanitized.h"

namespace lockstep::transport {
namespace {

// Seeded, so that a failure comes again.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  size_t below(size_t bound) { return engine_() % bound; }
  char byte() { return static_cast<char>(below(256)); }
  const std::string& of(const std::vector<std::string>& list) { return list[below(list.size())]; }

 private:
  std::mt19937 engine_;
};

// All that is printed of a verdict must be printable too.
JobVerdict judged_and_printed(const std::string& text) {
  const JobVerdict verdict = verdict_on(text);
  EXPECT_FALSE(verdict_json(verdict).dump(-1, ' ', false, Json::error_handler_t::replace).empty());
  const std::string table = verdict_text("fuzz", verdict);
  for (const char c : table) EXPECT_TRUE(c == '\n' || c < 0 || (c >= ' ' && c != '\x7f'));
  EXPECT_EQ(columns_of("fuzz", verdict).find('\n'), std::string::npos);
  return verdict;
}

bool is_pass(Transport transport) {
  return transport == Transport::kEfa || transport == Transport::kIb || transport == Transport::kRoce;
}

const std::vector<std::string>& pieces() {
  static const std::vector<std::string> list = {
      "node-0:1000:1700 [0] NCCL INFO ",
      "node-1:1137:1837 [0] NCCL WARN ",
      "node-0:1:1 [-1] a(b, c::d<e>):3 NCCL WARN ",
      " NCCL INFO ",
      " NCCL WARN ",
      "NCCL version 2.28.9+cuda13.0",
      "Using network ",
      "Libfabric",
      "AWS Libfabric",
      "Socket",
      "NET/OFI Selected provider is efa, fabric is efa (found 4 nics)",
      "NET/OFI Selected Provider is ",
      "NET/IB : Using [0]mlx5_0:1/IB [1]={[0] mlx5_1:1/RoCE, [1] x} [RO]; OOB e:1<0>",
      "NET/IB : Using [0]={[",
      "Channel 00/0 : 0[0] -> 8[0] [send] via NET/Libfabric/0/GDRDMA",
      "Channel 99999999999/0 : ",
      "Channel 00 : 1[1] -> 2[2] via SHM/direct/direct",
      "via NET/",
      "via P2P/indirect/3[",
      "CollNet 00/0 : 3 [receive] via COLLNET/SHARP/0",
      "comm 0xffffffffffffffff rank 0 nranks 1048576 cudaDev 0 busId 0 commId 0x0 - Init START",
      "comm 0x1 rank 4294967295 nranks 4294967295 - Init COMPLETE",
      "comm 0x2 rank 1 nRanks 16 nNodes 2 localRanks 8 localRank 1 MNNVL 0",
      "ncclCommSplit comm 0x3 rank 0 nranks 2 parent 0x3 splitCount 1 color -1 key 0- Init START",
      "comm 0x4 rank 0 nranks 2 cudaDev 0 busId 0 - Destroy COMPLETE",
      "Bootstrap: Using eth0:192.0.2.11<0>",
      "Bootstrap : Using lo:127.0.0.1<0>",
      "MNNVL busId 0x1 fabric UUID f.f",
      "[repeated 4294967295x across cluster]",
      " [repeated x across cluster]",
      "(RayTrainWorker pid=1, ip=)",
      "[pod/a/b] ",
      "{\"log\":\"",
      "\\n\"}",
      "\x1b[31m",
      "\x1b[",
      "\x1b",
      "libfabric:1:1::efa:core:x():1<warn> Failed to open EFA device",
      std::string(1, '\0'),
      "\xff\xfe",
      "\r",
      "\n",
      "\n",
      " ",
      ":",
      "[0]"};
  return list;
}

TEST(LogFuzz, RandomBytes) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random.below(400), ' ');
    for (char& c : text) c = random.byte();
    EXPECT_EQ(judged_and_printed(text).transport, Transport::kUnknown);
  }
}

TEST(LogFuzz, PiecesOfLinesInAnyOrder) {
  Random random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (size_t left = random.below(60); left > 0; --left) text += random.of(pieces());
    judged_and_printed(text);
  }
}

TEST(LogFuzz, ChangedBytesOfRealLogs) {
  Random random(3);
  for (const ExpectedRow& row : expected_rows()) {
    const std::string whole = log_text(row.file);
    for (int i = 0; i < variants(40); ++i) {
      std::string text = whole;
      for (size_t changes = 1 + random.below(30); changes > 0 && !text.empty(); --changes) {
        const size_t at = random.below(text.size());
        switch (random.below(5)) {
          case 0:
            text[at] = random.byte();
            break;
          case 1:
            text.erase(at, 1 + random.below(200));
            break;
          case 2:
            text.insert(at, random.of(pieces()));
            break;
          case 3:  // a piece of the log in another place
            text.insert(at, whole.substr(random.below(whole.size()), random.below(300)));
            break;
          default:
            text.insert(at, "\n");
            break;
        }
      }
      const JobVerdict verdict = judged_and_printed(text);
      // Inserted pieces name libfabric's efa, but never for all ranks of a communicator.
      if (is_pass(verdict.transport)) {
        EXPECT_EQ(word(verdict.transport), row.transport) << row.file << " variant " << i;
      }
    }
  }
}

TEST(LogFuzz, BlocksOfAnySizeGiveTheSame) {
  Random random(4);
  const std::string whole = log_text("a22_split_pipe_blocks.log");
  const std::string expected = columns_of("x", verdict_on(whole));
  for (int i = 0; i < variants(40); ++i) {
    LogEvidence evidence;
    evidence.begin_source("x");
    for (size_t at = 0; at < whole.size();) {
      const size_t size = std::min(whole.size() - at, 1 + random.below(i < 5 ? 3 : 5000));
      evidence.add(std::string_view(whole).substr(at, size));
      at += size;
    }
    evidence.end_source();
    EXPECT_EQ(columns_of("x", judge(evidence)), expected);
  }
}

}  // namespace
}  // namespace lockstep::transport
