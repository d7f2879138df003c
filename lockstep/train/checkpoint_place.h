// Where checkpoints are, from what people name.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lockstep/base/recipe.h"
#include "lockstep/checkpoint/names.h"
#include "lockstep/storage/object_store.h"

namespace lockstep::train {

// Where a run's checkpoints and claims are: checkpoint.storage/<name>, or the run's own folder.
std::string checkpoint_location(const Recipe& recipe, const std::string& run_dir);

// The store of `run`: a run's folder, whose record says where its checkpoints are, or their place
// itself. Throws ConfigError when neither is there.
std::unique_ptr<storage::ObjectStore> open_checkpoint_store(const std::string& run);

struct CheckpointPlace {
  std::string run;
  std::optional<checkpoint::CheckpointId> id;  // absent: the run as a whole
};

// "runs/a" or "runs/a/checkpoints/step-00000200.g001", with or without a last slash.
CheckpointPlace place_of(std::string path);

}  // namespace lockstep::train
