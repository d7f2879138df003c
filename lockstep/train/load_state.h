// Reads a checkpoint into the living state of a rank.
#pragma once

#include "lockstep/checkpoint/manifest.h"
#include "lockstep/storage/object_store.h"
#include "lockstep/train/training_state.h"

namespace lockstep::train {

// Every slice that this rank holds, then the counts of updates. Throws as checkpoint::fetch_state;
// the state is undefined then. Host memory: on a GPU machine this rank's share once more.
void load_state(storage::ObjectStore& store, const checkpoint::Manifest& manifest, TrainingState& state);

}  // namespace lockstep::train
