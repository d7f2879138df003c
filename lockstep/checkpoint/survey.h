// What lies in a run's store, without reading the shards.
#pragma once

#include <string>
#include <vector>

#include "lockstep/checkpoint/lineage.h"
#include "lockstep/checkpoint/manifest.h"

namespace lockstep::checkpoint {

struct Unreadable {
  CheckpointId id;
  std::string reason;
};

struct Survey {
  std::vector<Manifest> committed;       // the run's own, newest first
  std::vector<Unreadable> damaged;       // manifests that should be the run's but cannot be read
  std::vector<CheckpointId> foreign;     // commits of groups that were given up, by now or by a later start
  std::vector<CheckpointId> unfinished;  // saves that were never committed
};

// Reads the claims and every manifest. Throws DamagedError for a claim that is not whole.
Survey survey(storage::ObjectStore& store);

// The manifest, or nothing when there is none. Throws DamagedError.
std::optional<Manifest> read_manifest(storage::ObjectStore& store, const CheckpointId& id);

// Takes a checkpoint away, its manifest first: what is left of a removal that was cut short is no checkpoint.
void remove_checkpoint(storage::ObjectStore& store, const CheckpointId& id);

}  // namespace lockstep::checkpoint
