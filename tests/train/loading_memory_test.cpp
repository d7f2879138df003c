// Loading real weights holds no full copy on any rank, judged by anonymous resident memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "lockstep/comm/run_ranks.h"
#include "lockstep/fsdp/sharded.h"
#include "lockstep/models/causal_lm.h"

namespace lockstep::train {
namespace {

int64_t anonymous_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kibibytes = 0;
    if (word == "RssAnon:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

// The most that was resident while it lived, looked at every millisecond.
class PeakWatch {
 public:
  PeakWatch() : thread_([this] { watch(); }) {}
  ~PeakWatch() {
    stop_ = true;
    thread_.join();
  }
  int64_t peak() const { return peak_; }

 private:
  void watch() {
    while (!stop_) {
      peak_ = std::max(peak_.load(), anonymous_resident_bytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> peak_{0};
  std::thread thread_;
};

TEST(Loading, HoldsAShardAndAtMostTheLargestTensorOnEachRank) {
  const char* cache = std::getenv("LOCKSTEP_CACHE");
  const std::string folder =
      (cache ? std::string(cache) : std::string(std::getenv("HOME")) + "/.cache/lockstep") +
      "/models/SmolLM2-135M-Instruct";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "no real weights in " << folder << ": run make assets";
  constexpr int kRanks = 4;
  constexpr int64_t kModelBytes = 134'515'008L * 4;  // float32 masters
  constexpr int64_t kLargestTensorBytes = 49152L * 576 * 4;
  constexpr int64_t kSlack = 64 << 20;  // headers, buffers of Gloo, the allocator's own
  const int64_t before = anonymous_resident_bytes();
  const PeakWatch watch;
  comm::run_mesh(kRanks, kRanks, [&](comm::Mesh& mesh) {
    fsdp::FsdpOptions options;
    options.wrap = fsdp::wrap_by_type({"DecoderLayer"});
    ModelConfig config;
    config.source = folder;
    const auto model = fsdp::fully_shard(models::CausalLM::from_pretrained(config), mesh, options);
    mesh.world().barrier();
  });
  // The ranks are threads of this process: together one model, and a tensor each.
  EXPECT_GE(watch.peak() - before, kModelBytes);
  EXPECT_LE(watch.peak() - before, kModelBytes + kRanks * kLargestTensorBytes + kSlack);
}

}  // namespace
}  // namespace lockstep::train
