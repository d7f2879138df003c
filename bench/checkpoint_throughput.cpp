// How fast ranks save and load, against torch.distributed.checkpoint on the same disk:
//
//   checkpoint_throughput FOLDER [ranks=2] [MiB a rank=512] [rounds=5]
//   bench/dcp_throughput.py FOLDER ...     the same with PyTorch's own
//
// Each rank (a thread here, a process there) holds 64 float32 tensors. Save: from the state in memory to
// a checkpoint that is on the disk, hashed and committed. Load: back into memory, hashes compared.
// Prints a JSON object with the seconds of each round.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/checkpoint/committer.h"
#include "lockstep/checkpoint/fetch_state.h"
#include "lockstep/checkpoint/survey.h"
#include "lockstep/checkpoint/write_shard.h"

using namespace lockstep;
using namespace lockstep::checkpoint;

namespace {

constexpr int kTensors = 64;

struct Rank {
  std::vector<Slice> slices;
  std::vector<std::vector<std::byte>> state;
  std::vector<std::byte> image;
  ShardInfo info;
};

void on_all(std::vector<Rank>& ranks, const std::function<void(int, Rank&)>& body) {
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i] { body(static_cast<int>(i), ranks[i]); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const int num_ranks = argc > 2 ? std::atoi(argv[2]) : 2;
  const int64_t rank_bytes = (argc > 3 ? std::atoll(argv[3]) : 512) << 20;
  const int rounds = argc > 4 ? std::atoi(argv[4]) : 5;

  const auto store = storage::open_store(folder + "/lockstep");
  std::vector<Rank> ranks(static_cast<size_t>(num_ranks));
  const int64_t numel = rank_bytes / kTensors / 4;
  on_all(ranks, [&](int rank, Rank& own) {
    for (int t = 0; t < kTensors; ++t) {
      own.slices.push_back({{fmt::format("weights/rank{}.t{}", rank, t), "F32", {numel}}, 0, numel});
      own.state.emplace_back(static_cast<size_t>(numel * 4), std::byte(rank * kTensors + t + 1));
    }
  });
  const int generation = newest_generation(*store) + 1;
  Committer committer(*store, {generation, make_token(), std::nullopt, ""}, {.keep_last = 1});
  std::vector<double> saves, loads;
  for (int round = 1; round <= rounds; ++round) {
    Stopwatch stopwatch;
    Manifest manifest{.id = {round, generation}, .token = committer.claim().token};
    manifest.world_size = num_ranks;
    manifest.identity = manifest.state = manifest.metrics = Json::object();
    on_all(ranks, [&](int rank, Rank& own) {
      const ShardPlan plan(own.slices, rank);
      own.image.resize(static_cast<size_t>(plan.num_bytes()));
      plan.write_header(own.image);
      for (size_t i = 0; i < own.slices.size(); ++i) {
        std::memcpy(own.image.data() + plan.position(i), own.state[i].data(), own.state[i].size());
      }
      own.info = write_shard(*store, manifest.id, plan.info(), own.image);
    });
    for (const Rank& rank : ranks) manifest.shards.push_back(rank.info);
    committer.commit(manifest);
    saves.push_back(stopwatch.seconds());

    stopwatch.restart();
    const Manifest found = survey(*store).committed.at(0);
    on_all(ranks, [&](int, Rank& own) {
      std::vector<Target> targets;
      for (size_t i = 0; i < own.slices.size(); ++i) targets.push_back({own.slices[i], own.state[i]});
      fetch_state(*store, found, targets);
    });
    loads.push_back(stopwatch.seconds());
  }
  fmt::print(
      "{{\"system\": \"lockstep\", \"ranks\": {}, \"bytes\": {}, \"save_s\": [{:.3f}], \"load_s\": "
      "[{:.3f}]}}\n",
      num_ranks, num_ranks * rank_bytes, fmt::join(saves, ", "), fmt::join(loads, ", "));
}
