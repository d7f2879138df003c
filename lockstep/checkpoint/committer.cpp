#include "lockstep/checkpoint/committer.h"

#include <utility>

#include "lockstep/base/check.h"
#include "lockstep/base/log.h"
#include "lockstep/checkpoint/survey.h"

namespace lockstep::checkpoint {
namespace {

Committed to_committed(const Manifest& manifest) { return {manifest.id, manifest.held_out_loss()}; }

}  // namespace

Committer::Committer(storage::ObjectStore& store, Claim claim, RetentionRule rule)
    : store_(store), claim_(std::move(claim)), rule_(rule) {
  write_claim(store_, claim_);
  const Survey found = survey(store_);
  for (const Manifest& manifest : found.committed) committed_.push_back(to_committed(manifest));
  store_.sweep(std::string(kCheckpointsPrefix));
  for (const CheckpointId& id : found.unfinished) {
    if (id.generation < claim_.generation) remove_checkpoint(store_, id);
  }
}

void Committer::commit(const Manifest& manifest) {
  LOCKSTEP_CHECK(manifest.id.generation == claim_.generation && manifest.token == claim_.token)
      << folder_name(manifest.id) << " is not generation " << claim_.generation << "'s";
  check_not_superseded(store_, claim_);
  store_.put(manifest_key(manifest.id), storage::as_bytes(to_bytes(manifest)));
  std::erase_if(committed_, [&](const Committed& other) { return other.id == manifest.id; });
  committed_.push_back(to_committed(manifest));
  remove_superfluous();
}

void Committer::remove_abandoned(const CheckpointId& next) noexcept {
  abandoned_.erase(next);  // the same step once more: its files are about to be replaced
  for (auto id = abandoned_.begin(); id != abandoned_.end();) {
    try {
      remove_checkpoint(store_, *id);
      id = abandoned_.erase(id);
    } catch (const std::exception& error) {
      log::warning("checkpoint: what was written of {} stays for now: {}", folder_name(*id), error.what());
      ++id;
    }
  }
}

void Committer::remove_superfluous() noexcept {
  for (const CheckpointId& id : not_kept(committed_, rule_)) {
    try {
      remove_checkpoint(store_, id);
      std::erase_if(committed_, [&](const Committed& other) { return other.id == id; });
    } catch (const std::exception& error) {
      log::warning("checkpoint: {} is not needed any more but stays for now: {}", folder_name(id),
                   error.what());
    }
  }
}

}  // namespace lockstep::checkpoint
