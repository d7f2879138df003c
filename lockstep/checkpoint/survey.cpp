#include "lockstep/checkpoint/survey.h"

#include <set>

#include "lockstep/checkpoint/damaged.h"

namespace lockstep::checkpoint {

std::optional<Manifest> read_manifest(storage::ObjectStore& store, const CheckpointId& id) {
  const storage::Key key = manifest_key(id);
  const auto bytes = store.get(key);
  if (!bytes) return std::nullopt;
  Manifest manifest = parse_manifest(*bytes, key);
  if (manifest.id != id) throw DamagedError(key + " is the manifest of " + folder_name(manifest.id));
  return manifest;
}

Survey survey(storage::ObjectStore& store) {
  const Lineage lineage = Lineage::read(store);
  std::set<CheckpointId> ids;
  for (const storage::Key& key : store.list(std::string(kCheckpointsPrefix))) {
    if (const auto id = id_of_key(key)) ids.insert(*id);
  }
  Survey result;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    try {
      auto manifest = read_manifest(store, *id);
      if (!manifest) {
        result.unfinished.push_back(*id);
      } else if (lineage.has(*id, manifest->token)) {
        result.committed.push_back(*std::move(manifest));
      } else {
        result.foreign.push_back(*id);
      }
    } catch (const DamagedError& error) {
      if (lineage.may_have(*id)) {
        result.damaged.push_back({*id, error.what()});
      } else {
        result.foreign.push_back(*id);
      }
    }
  }
  return result;
}

void remove_checkpoint(storage::ObjectStore& store, const CheckpointId& id) {
  store.remove(manifest_key(id));
  for (const storage::Key& key : store.list(file_key(id, ""))) store.remove(key);
}

}  // namespace lockstep::checkpoint
