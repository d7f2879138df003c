#include "lockstep/checkpoint/fetch_state.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "lockstep/base/element_bytes.h"
#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"
#include "lockstep/checkpoint/damaged.h"

namespace lockstep::checkpoint {
namespace {

constexpr int64_t kPieceBytes = 32 << 20;

// Bytes [begin, begin + num_bytes) of a file that go to `into`.
struct Copy {
  int64_t begin, num_bytes;
  std::byte* into;
};

using OnPiece = std::function<void(int64_t begin, std::span<const std::byte>)>;

// Streams the whole file past `on_piece`; returns only if size and hash are the manifest's.
void read_shard(storage::ObjectStore& store, const Manifest& manifest, const ShardInfo& shard,
                const OnPiece& on_piece) {
  const storage::Key key = file_key(manifest.id, shard.file);
  Sha256 hash;
  int64_t position = 0;
  // One byte more than there should be: a file that grew is changed, too.
  while (position <= shard.num_bytes) {
    const auto piece = store.get(key, {position, std::min(kPieceBytes, shard.num_bytes + 1 - position)});
    if (!piece) throw DamagedError(fmt::format("{} is missing", key));
    if (piece->empty()) break;
    hash.update(*piece);
    on_piece(position, *piece);
    position += static_cast<int64_t>(piece->size());
  }
  if (position != shard.num_bytes) {
    throw DamagedError(fmt::format("{} has {} {} bytes; it was written with {}", key,
                                   position < shard.num_bytes ? "only" : "more than",
                                   std::min(position, shard.num_bytes), shard.num_bytes));
  }
  if (hash.hex() != shard.sha256) throw DamagedError(fmt::format("{} was changed: its SHA-256 differs", key));
}

class Fetch {
 public:
  Fetch(storage::ObjectStore& store, const Manifest& manifest, std::span<const Target> targets)
      : store_(store), manifest_(manifest), targets_(targets) {}

  void run() {
    for (const Target& target : targets_) by_name_[target.slice.tensor.name].push_back(&target);
    check_tensors();
    for (const ShardInfo& shard : manifest_.shards) {
      const std::vector<Copy> copies = copies_from(shard);
      if (copies.empty()) continue;
      read_shard(store_, manifest_, shard, [&](int64_t begin, std::span<const std::byte> piece) {
        for (const Copy& copy : copies) take(copy, begin, piece);
      });
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

  static void take(const Copy& copy, int64_t piece_begin, std::span<const std::byte> piece) {
    const int64_t begin = std::max(copy.begin, piece_begin);
    const int64_t end =
        std::min(copy.begin + copy.num_bytes, piece_begin + static_cast<int64_t>(piece.size()));
    if (begin >= end) return;
    std::memcpy(copy.into + (begin - copy.begin), piece.data() + (begin - piece_begin),
                static_cast<size_t>(end - begin));
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
  read_shard(store, manifest, shard, [](int64_t, std::span<const std::byte>) {});
}

}  // namespace lockstep::checkpoint
