// Where checkpoints lie in a store, and the names of their files. Layout: docs/checkpoint_format.md.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lockstep/storage/object_store.h"

namespace lockstep::checkpoint {

// Which one: `step` optimizer steps were done, `generation` saved it. Ordered by step, then generation.
struct CheckpointId {
  int64_t step = 0;
  int generation = 0;

  auto operator<=>(const CheckpointId&) const = default;
};

inline constexpr std::string_view kCheckpointsPrefix = "checkpoints/";
inline constexpr std::string_view kGenerationsPrefix = "generations/";
inline constexpr std::string_view kManifestFile = "manifest.json";

std::string folder_name(const CheckpointId& id);  // "step-00000200.g002"
std::string shard_file(int rank);                 // "shard-00003.safetensors"
storage::Key file_key(const CheckpointId& id,
                      std::string_view file);  // "checkpoints/step-00000200.g002/<file>"
storage::Key manifest_key(const CheckpointId& id);

// The checkpoint that a key or folder name speaks of; nothing for any other name.
std::optional<CheckpointId> id_of_folder(std::string_view folder_name);
std::optional<CheckpointId> id_of_key(std::string_view key);  // any file below the folder

}  // namespace lockstep::checkpoint
