#include "lockstep/checkpoint/fetch_state.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lockstep/base/element_bytes.h"
#include "lockstep/base/error.h"
#include "lockstep/checkpoint/read_shard.h"

namespace lockstep::checkpoint {
namespace {

class Fetch {
 public:
  Fetch(storage::ObjectStore& store, const Manifest& manifest, std::span<const Target> targets)
      : store_(store), manifest_(manifest), targets_(targets) {}

  void run() {
    for (const Target& target : targets_) by_name_[target.slice.tensor.name].push_back(&target);
    check_tensors();
    for (const ShardInfo& shard : manifest_.shards) {
      std::vector<Copy> copies = copies_from(shard);
      if (!copies.empty()) read_shard(store_, manifest_, shard, std::move(copies));
    }
  }

 private:
  // The manifest's tensors are covered in full (parse_manifest), so a target of one of them is too.
  void check_tensors() const {
    std::map<std::string, const TensorInfo*> stored;
    for (const ShardInfo& shard : manifest_.shards) {
      for (const TensorInfo& tensor : shard.tensors) stored[tensor.name] = &tensor;
    }
    const auto refuse = [&](const std::string& what) {
      throw ConfigError(
          fmt::format("checkpoint: {} {}: it was saved from another model", folder_name(manifest_.id), what));
    };
    for (const auto& [name, targets] : by_name_) {
      const auto found = stored.find(name);
      if (found == stored.end()) refuse(fmt::format("has no {}", name));
      const TensorInfo& wanted = targets.front()->slice.tensor;
      if (*found->second != wanted) {
        refuse(fmt::format("has {} as {} [{}], here it is {} [{}]", name, found->second->dtype,
                           fmt::join(found->second->shape, ", "), wanted.dtype,
                           fmt::join(wanted.shape, ", ")));
      }
    }
  }

  std::vector<Copy> copies_from(const ShardInfo& shard) const {
    std::vector<Copy> copies;
    for (const StoredSlice& stored : shard.slices) {
      const TensorInfo& tensor = shard.tensors[stored.tensor];
      const auto targets = by_name_.find(tensor.name);
      if (targets == by_name_.end()) continue;
      const int64_t width = element_bytes(tensor.dtype);
      for (const Target* target : targets->second) {
        const int64_t begin = std::max(stored.offset, target->slice.offset);
        const int64_t end =
            std::min(stored.offset + stored.length, target->slice.offset + target->slice.length);
        if (begin >= end) continue;
        copies.push_back({stored.position + (begin - stored.offset) * width, (end - begin) * width,
                          target->bytes.data() + (begin - target->slice.offset) * width});
      }
    }
    return copies;
  }

  storage::ObjectStore& store_;
  const Manifest& manifest_;
  std::span<const Target> targets_;
  std::map<std::string, std::vector<const Target*>> by_name_;
};

}  // namespace

void fetch_state(storage::ObjectStore& store, const Manifest& manifest, std::span<const Target> targets) {
  Fetch(store, manifest, targets).run();
}

void verify_shard(storage::ObjectStore& store, const Manifest& manifest, const ShardInfo& shard) {
  read_shard(store, manifest, shard, {});
}

}  // namespace lockstep::checkpoint
