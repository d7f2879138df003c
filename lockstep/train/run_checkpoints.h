// A run's checkpoints, from its ranks' side: is the storage good, where does the run continue, and
// the saver from then on.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lockstep/base/recipe.h"
#include "lockstep/checkpoint/survey.h"
#include "lockstep/train/checkpoint_saver.h"
#include "lockstep/train/engine.h"
#include "lockstep/train/reporter.h"

namespace lockstep::train {

struct Restored {
  int64_t step = 0;
  Json state, metrics;  // as they were given to the saver
};

class RunCheckpoints {
 public:
  // `identity`: run_identity.h. `from`: where to continue (WorkerEnv::continue_from). The others
  // must outlive it.
  RunCheckpoints(const Recipe& recipe, Engine& engine, Reporter& reporter, int generation, std::string from,
                 Json identity);

  // Collective. Throws IoError when some rank does not see what rank 0 writes, or when there is no
  // room for two checkpoints of `state_bytes`.
  void check_storage(int64_t state_bytes);

  // Collective. Reads the newest whole checkpoint into `state`, or the one asked for, and claims the
  // run for this generation; nothing when the run has none yet. Warns of those that are damaged.
  // Throws ConfigError when its identity is another, IoError when none is whole.
  std::optional<Restored> restore(TrainingState& state);

  CheckpointSaver& saver() { return *saver_; }

 private:
  void report_damage(const checkpoint::CheckpointId& id, const std::string& reason) const;
  std::vector<checkpoint::Manifest> candidates(storage::ObjectStore& store) const;
  std::optional<checkpoint::Manifest> load_first_whole(storage::ObjectStore& store,
                                                       const std::vector<checkpoint::Manifest>& candidates,
                                                       TrainingState& state);

  const Recipe& recipe_;
  Engine& engine_;
  Reporter& reporter_;
  const int generation_;
  const std::string from_;
  const Json identity_;
  const std::string location_;
  std::unique_ptr<storage::ObjectStore> store_;
  std::unique_ptr<checkpoint::Committer> committer_;  // rank 0
  std::unique_ptr<CheckpointSaver> saver_;
};

}  // namespace lockstep::train
