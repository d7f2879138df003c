// One rank's part of a save.
#pragma once

#include <cstddef>
#include <span>

#include "lockstep/checkpoint/manifest.h"
#include "lockstep/storage/object_store.h"

namespace lockstep::checkpoint {

// Hashes `image`, the whole file, and puts it where checkpoint `id` has it. Returns `info` with the
// hash. Throws IoError.
ShardInfo write_shard(storage::ObjectStore& store, const CheckpointId& id, ShardInfo info,
                      std::span<const std::byte> image);

}  // namespace lockstep::checkpoint
