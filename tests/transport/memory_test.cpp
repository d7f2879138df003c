// Memory grows with what a log tells, not with its length. Live bytes are counted in this program.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "lockstep/transport/requirement.h"
#include "tests/transport/log_files.h"
#include "tests/transport/sanitized.h"

namespace {

std::atomic<int64_t> live_bytes{0}, peak_bytes{0};

}  // namespace

// The sanitizer has an allocator of its own.
#ifndef __SANITIZE_ADDRESS__
void* operator new(size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  const int64_t now = live_bytes += static_cast<int64_t>(::malloc_usable_size(memory));
  int64_t peak = peak_bytes;
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) live_bytes -= static_cast<int64_t>(::malloc_usable_size(memory));
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }
#endif

namespace lockstep::transport {
namespace {

// The most that was live above `before` while `body` ran.
template <typename Body>
int64_t peak_of(Body&& body) {
  const int64_t before = live_bytes;
  peak_bytes = before;
  body();
  return peak_bytes - before;
}

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizer has an allocator of its own";
  }
};

TEST_F(Memory, IsCounted) {
  EXPECT_GE(peak_of([] { std::string(1 << 20, 'x').shrink_to_fit(); }), 1 << 20);
}

TEST_F(Memory, StaysFlatHoweverLongALogIs) {
  // What a job prints at its start, then its steps, over and over.
  std::string block = log_text("a13_hsdp_split_comms.log");
  for (int step = 0; step < 5000; ++step)
    block += fmt::format("step {} loss 2.5 tokens/s 41230 grad norm 0.7\n", step);
  LogEvidence evidence;
  evidence.begin_source("long.log");
  evidence.add(block);
  const int blocks = 200;
  const int64_t grown = peak_of([&] {
    for (int i = 0; i < blocks; ++i) evidence.add(block);
  });
  EXPECT_GT(evidence.num_lines(), static_cast<uint64_t>(blocks) * 6000);
  // Each repeat opens its communicators anew, as a job does that is started again in one process:
  // 48 of them, each with its connections.
  EXPECT_LT(grown / blocks, 120 << 10);
}

TEST_F(Memory, OfStepsAloneDoesNotGrowAtAll) {
  LogEvidence evidence;
  evidence.begin_source("long.log");
  evidence.add(log_text("a13_hsdp_split_comms.log"));
  std::string block;
  for (int step = 0; step < 10000; ++step)
    block += fmt::format(
        "node-0:1000:1700 [0] NCCL INFO AllReduce: opCount {:x} sendbuff 0x7f count 1 comm 0x55 [nranks=16]\n"
        "(RayTrainWorker pid=1000) step {} loss 2.5\n",
        step, step);
  evidence.add(block);
  const int64_t grown = peak_of([&] {
    for (int i = 0; i < 100; ++i) evidence.add(block);
  });
  EXPECT_LT(grown, 4096);
}

TEST_F(Memory, OfALineThatNeverEndsIsBounded) {
  LogEvidence evidence;
  evidence.begin_source("bar.log");
  const std::string bar(1 << 16, '#');
  EXPECT_LT(peak_of([&] {
              for (int i = 0; i < 500; ++i) evidence.add(bar);
            }),
            static_cast<int64_t>(4 * kMaxLineBytes));
}

TEST_F(Memory, OfEverNewNamesIsBoundedAndPassesNothing) {
  LogEvidence evidence({.processes = 100, .members = 100, .connections = 100});
  evidence.begin_source("hostile.log");
  evidence.add(log_text("a25_second_comm_socket.log").substr(0, 30000));
  const auto hostile = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      evidence.add(
          fmt::format("host-{0}:{0}:{0} [0] NCCL INFO Using network Net{0}\n"
                      "node-0:1000:{0} [0] NCCL INFO Using network Net{0}\n"
                      "node-0:1000:1000 [0] NCCL INFO Channel 00/0 : {0}[0] -> 1[1] [send] via NET/Net{0}/0\n"
                      "node-0:1000:1000 [0] NCCL INFO comm 0x{0:x} rank 0 nranks 2 cudaDev 0 busId 0 commId "
                      "0x{0:x} - Init START\n"
                      "[x] node-0:1000:1000 [0] NCCL INFO Bootstrap: Using eth{0}:10.0.0.{0}<0>\n"
                      "NCCL version 2.{0}.1\n"
                      "node-0:1000:1000 [0] f.cc:1 NCCL WARN number {0}\n",
                      i));
    }
  };
  hostile(0, 20000);
  const int64_t grown = peak_of([&] { hostile(20000, 60000); });
  EXPECT_LT(grown, 64 << 10);
  EXPECT_TRUE(evidence.past_limits());
  evidence.end_source();
  EXPECT_FALSE(passes(judge(evidence).transport, Requirement::kEfa));
}

}  // namespace
}  // namespace lockstep::transport
