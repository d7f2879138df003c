// Rank 0's part of a save: the commit, and what it makes superfluous.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lockstep/checkpoint/lineage.h"
#include "lockstep/checkpoint/manifest.h"
#include "lockstep/checkpoint/retention.h"

namespace lockstep::checkpoint {

class Committer {
 public:
  // Claims the run for this generation and removes saves that earlier ones did not finish. From here
  // on the run's checkpoints are those of the chain that `claim` continues. What is committed but no
  // longer the run's is left alone: somebody may want to look at it. Throws as write_claim and survey.
  Committer(storage::ObjectStore& store, Claim claim, RetentionRule rule);

  // Writes the manifest, which makes the checkpoint one; `manifest.id` and `token` are this
  // generation's. Then removes what the rule does not keep: that this fails is only logged, and
  // tried again the next time. Throws IoError, and GuardError when the run was taken over.
  void commit(const Manifest& manifest);

  // Notes that a save was given up. Its files stay until `remove_abandoned`: whoever notes it may
  // not be able to wait for a store that fails.
  void abandon(const CheckpointId& id) { abandoned_.insert(id); }
  // Removes them, as far as the store lets it, to make room for the save `next`. Not while ranks write,
  // but for `next` itself.
  void remove_abandoned(const CheckpointId& next) noexcept;

  const Claim& claim() const { return claim_; }

 private:
  void remove_superfluous() noexcept;

  storage::ObjectStore& store_;
  Claim claim_;
  RetentionRule rule_;
  std::vector<Committed> committed_;
  std::set<CheckpointId> abandoned_;
};

}  // namespace lockstep::checkpoint
