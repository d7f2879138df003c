// One shard's file, read once from its front to its end and compared with its hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lockstep/checkpoint/manifest.h"
#include "lockstep/storage/object_store.h"

namespace lockstep::checkpoint {

// Bytes [begin, begin + num_bytes) of a file go to `into`.
struct Copy {
  int64_t begin = 0, num_bytes = 0;
  std::byte* into = nullptr;
};

// Makes the copies, straight into their places where the store can (storage/read_into.h); returns only if
// size and hash are the manifest's. One piece of 32 MiB is read, on a thread of its own, while the
// one before it is hashed. Memory: two pieces, of which only what goes nowhere is used in a local
// folder. CHECKs that no two copies want the same byte of the file. Throws DamagedError, naming the file.
void read_shard(storage::ObjectStore& store, const Manifest& manifest, const ShardInfo& shard,
                std::vector<Copy> copies);

}  // namespace lockstep::checkpoint
