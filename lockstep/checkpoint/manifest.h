// What a checkpoint holds: written last, so it is the commit. A folder without one is none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/checkpoint/names.h"

namespace lockstep::checkpoint {

// A tensor of the state: "weights/model.norm.weight", "exp_avg/model.norm.weight", ...
struct TensorInfo {
  std::string name;
  std::string dtype;           // as in safetensors: F32, BF16, ...
  std::vector<int64_t> shape;  // of the whole tensor

  int64_t numel() const;
  bool operator==(const TensorInfo&) const = default;
};

// A run of elements of a tensor, and where its bytes begin in a shard's file.
struct StoredSlice {
  size_t tensor = 0;               // index into the owner's `tensors`
  int64_t offset = 0, length = 0;  // elements of the flattened tensor
  int64_t position = 0;            // byte of the file
};

// One rank's file.
struct ShardInfo {
  std::string file;
  int64_t num_bytes = 0;
  std::string sha256;
  std::vector<TensorInfo> tensors;  // those that its slices are of
  std::vector<StoredSlice> slices;

  // For the way from each rank to rank 0.
  Json to_json() const;
  static ShardInfo from_json(const Json& json);
};

struct Manifest {
  CheckpointId id;
  std::string token;   // of the group of workers that wrote it (lineage.h)
  std::string time;    // UTC, RFC 3339
  int world_size = 1;  // ranks that wrote it
  Json identity;       // what a run that continues must agree on: an object
  Json state;          // what is not a tensor: position in the data, updates, ...: an object
  Json metrics;        // "loss", "held_out_loss", ... at this step: an object
  std::vector<ShardInfo> shards;

  int64_t num_bytes() const;                    // of all shards
  std::optional<double> held_out_loss() const;  // nothing where it was not measured at this step
};

// Bytes of the file: sealed JSON (sealed_json.h).
std::string to_bytes(const Manifest& manifest);

// Throws DamagedError, naming `origin`: bytes that to_bytes did not write, a version that this
// program does not read, tensors that the shards do not cover exactly once.
Manifest parse_manifest(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace lockstep::checkpoint
