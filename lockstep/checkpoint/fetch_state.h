// Reads a checkpoint back, into any layout: other ranks, other strategies, other wrap policies.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lockstep/checkpoint/manifest.h"
#include "lockstep/checkpoint/shard_plan.h"

namespace lockstep::checkpoint {

// Where the elements of a slice shall go: [slice.num_bytes()], on the host.
struct Target {
  Slice slice;
  std::span<std::byte> bytes;
};

// Fills every target. Reads each shard that holds a part of one, whole and once, and compares its
// SHA-256 (read_shard.h); memory: 64 MiB beside the targets, of which no two hold the same element.
// What is in the targets after a throw is undefined.
// Throws DamagedError for a shard that is missing, cut or changed, and ConfigError for a tensor
// that the checkpoint does not have, or has with another shape or dtype: it is another model's.
void fetch_state(storage::ObjectStore& store, const Manifest& manifest, std::span<const Target> targets);

// Reads one shard and compares size and hash. Throws DamagedError, naming the file.
void verify_shard(storage::ObjectStore& store, const Manifest& manifest, const ShardInfo& shard);

}  // namespace lockstep::checkpoint
