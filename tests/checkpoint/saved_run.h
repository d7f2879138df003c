// A run's ranks, as far as checkpoints see them: what several ranks save and load, without training.
#pragma once

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "lockstep/checkpoint/committer.h"
#include "lockstep/checkpoint/fetch_state.h"
#include "lockstep/checkpoint/shard_plan.h"
#include "lockstep/checkpoint/survey.h"
#include "lockstep/checkpoint/write_shard.h"

namespace lockstep::checkpoint {

// Sizes that nothing divides, an empty tensor, and two widths.
inline const std::vector<TensorInfo> kTensors = {{"weights/a", "F32", {7, 3}},
                                                 {"weights/b", "BF16", {5}},
                                                 {"exp_avg/a", "F32", {7, 3}},
                                                 {"weights/none", "F32", {0}},
                                                 {"weights/scalar", "F64", {}}};

// The element's bytes at `step`, told from those of any other.
inline std::vector<std::byte> value_of(const TensorInfo& tensor, int64_t element, int64_t step) {
  const Slice one{tensor, element, 1};
  const uint64_t value =
      std::hash<std::string>{}(tensor.name + std::to_string(element) + "@" + std::to_string(step));
  std::vector<std::byte> bytes(static_cast<size_t>(one.num_bytes()));
  std::memcpy(bytes.data(), &value, bytes.size());
  return bytes;
}

// The even share of every tensor that rank `rank` of `world` holds.
inline std::vector<Slice> slices_of(int rank, int world) {
  std::vector<Slice> slices;
  for (const TensorInfo& tensor : kTensors) {
    const int64_t begin = tensor.numel() * rank / world, end = tensor.numel() * (rank + 1) / world;
    if (begin < end || (rank == 0 && tensor.numel() == 0)) slices.push_back({tensor, begin, end - begin});
  }
  return slices;
}

inline std::vector<std::byte> image_of(const ShardPlan& plan, const std::vector<Slice>& slices,
                                       int64_t step) {
  std::vector<std::byte> image(static_cast<size_t>(plan.num_bytes()));
  plan.write_header(image);
  for (size_t i = 0; i < slices.size(); ++i) {
    std::byte* at = image.data() + plan.position(i);
    for (int64_t element = 0; element < slices[i].length; ++element) {
      const auto value = value_of(slices[i].tensor, slices[i].offset + element, step);
      at = std::copy(value.begin(), value.end(), at);
    }
  }
  return image;
}

// A generation that can save. Ranks write one after the other.
class SavingGroup {
 public:
  SavingGroup(storage::ObjectStore& store, int generation, int world, RetentionRule rule = {.keep_last = 100},
              std::optional<CheckpointId> continues_instead = std::nullopt)
      : store_(store), world_(world) {
    const Survey found = survey(store);
    Claim claim{generation, make_token(), std::nullopt, ""};
    for (const Manifest& manifest : found.committed) {
      if (continues_instead && manifest.id != *continues_instead) continue;
      claim.continues = manifest.id;
      claim.continues_token = manifest.token;
      break;
    }
    committer_.emplace(store, claim, rule);
  }

  void save(int64_t step, std::optional<double> held_out_loss = std::nullopt) {
    Manifest manifest{.id = {step, committer_->claim().generation}, .token = committer_->claim().token};
    manifest.time = "2026-01-02T03:04:05.678Z";
    manifest.world_size = world_;
    manifest.identity = manifest.state = manifest.metrics = Json::object();
    if (held_out_loss) manifest.metrics["held_out_loss"] = *held_out_loss;
    for (int rank = 0; rank < world_; ++rank) {
      const auto slices = slices_of(rank, world_);
      const ShardPlan plan(slices, rank);
      manifest.shards.push_back(write_shard(store_, manifest.id, plan.info(), image_of(plan, slices, step)));
    }
    committer_->commit(manifest);
  }

 private:
  storage::ObjectStore& store_;
  int world_;
  std::optional<Committer> committer_;
};

// Whether `world` ranks read back, between them, every element of `manifest`'s step.
inline bool loads(storage::ObjectStore& store, const Manifest& manifest, int world) {
  for (int rank = 0; rank < world; ++rank) {
    const auto slices = slices_of(rank, world);
    std::vector<std::vector<std::byte>> buffers;
    std::vector<Target> targets;
    for (const Slice& slice : slices) buffers.emplace_back(static_cast<size_t>(slice.num_bytes()));
    for (size_t i = 0; i < slices.size(); ++i) targets.push_back({slices[i], buffers[i]});
    fetch_state(store, manifest, targets);
    for (size_t i = 0; i < slices.size(); ++i) {
      std::vector<std::byte> expected;
      for (int64_t element = 0; element < slices[i].length; ++element) {
        const auto value = value_of(slices[i].tensor, slices[i].offset + element, manifest.id.step);
        expected.insert(expected.end(), value.begin(), value.end());
      }
      if (buffers[i] != expected) return false;
    }
  }
  return true;
}

// Steps of the run's checkpoints, newest first.
inline std::vector<int64_t> steps(storage::ObjectStore& store) {
  std::vector<int64_t> result;
  for (const Manifest& manifest : survey(store).committed) result.push_back(manifest.id.step);
  return result;
}

}  // namespace lockstep::checkpoint
