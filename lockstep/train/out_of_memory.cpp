#include "lockstep/train/out_of_memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/base/byte_size.h"

namespace lockstep::train {
namespace {

constexpr double kUsable = 0.95;  // the rest is lost between blocks
// Of the activations, with sharding.recompute: block. The layers' inputs are a tenth by the shapes of
// Qwen2.5-1.5B; one layer's activations and the head's come to those.
constexpr double kRecomputed = 0.25;
// With `selective`: without the norms, a ninth of a layer's activations there.
constexpr double kWithoutNorms = 0.9;

int64_t capacity(const FullMemory& full) {
  const int64_t others = std::max<int64_t>(full.total - full.free - full.allocator, 0);
  return static_cast<int64_t>(kUsable * static_cast<double>(std::min(full.total - others, full.allowed)));
}

// `state`: weights, gradients and moments.
bool fits(const FullMemory& full, double state, double activations) {
  return state + static_cast<double>(full.gathered) + activations <= static_cast<double>(capacity(full));
}

}  // namespace

std::vector<std::string> settings_that_fit(const FullMemory& full) {
  const auto state = static_cast<double>(full.shards + full.gradients + full.optimizer);
  const auto activations = static_cast<double>(full.activations() + full.asked);
  std::vector<std::string> ways;
  // Activations grow with the tokens of a micro-batch.
  const auto add_shorter = [&](const char* key, int64_t now, const char* more) {
    for (int64_t parts = 2; parts <= now; parts *= 2) {
      if (!fits(full, state, activations / static_cast<double>(parts))) continue;
      return ways.push_back(fmt::format("{}: {} (now {}{})", key, now / parts, now, more));
    }
  };
  add_shorter("train.micro_batch", full.micro_batch, ", with train.global_batch as it is");
  add_shorter("data.sequence_length", full.sequence_length, "");
  if (full.recompute == "none" && fits(full, state, kWithoutNorms * activations))
    ways.emplace_back("sharding.recompute: selective, for a little more time");
  if (full.recompute != "block" && fits(full, state, kRecomputed * activations))
    ways.emplace_back("sharding.recompute: block, for a third more time");
  for (int more = 2; more <= 64; more *= 2) {
    const double share = full.sharded ? more : more * full.num_workers;
    if (!fits(full, state / share, activations)) continue;
    ways.push_back(fmt::format("scaling.num_workers: {} (now {}){}", more * full.num_workers,
                               full.num_workers, full.sharded ? "" : " with sharding.strategy: full"));
    break;
  }
  if (!full.narrow_master) {
    const auto halved = static_cast<double>(full.shards + full.optimizer) / 2;
    if (fits(full, state - halved, activations))
      ways.emplace_back("precision.master: bf16, which loses digits");
  }
  return ways;
}

std::string out_of_memory_words(const FullMemory& full) {
  std::string words =
      fmt::format("out of memory on {} at {}: {} asked for, {} of {} free", full.device, full.where,
                  format_bytes(full.asked), format_bytes(full.free), format_bytes(full.total));
  if (full.allowed < full.total)
    words += fmt::format(", {} allowed to this process", format_bytes(full.allowed));
  words += fmt::format(
      ". Held: weights {}, gradients {}, optimizer {}, gathered weights {}, activations and the like {}, "
      "kept by "
      "torch's allocator and of no use {}, other processes and the driver {}. ",
      format_bytes(full.shards), format_bytes(full.gradients), format_bytes(full.optimizer),
      format_bytes(full.gathered), format_bytes(full.activations()),
      format_bytes(full.allocator - full.tensors),
      format_bytes(std::max<int64_t>(full.total - full.free - full.allocator, 0)));
  const auto ways = settings_that_fit(full);
  if (ways.empty())
    return words + "By these figures no one setting is enough: take more GPUs, or a smaller model";
  return words + fmt::format("By these figures any of these fits: {}", fmt::join(ways, "; "));
}

}  // namespace lockstep::train
