// Saves while training goes on: each rank copies its share of the state into host memory and
// writes it from there on a thread of its own; when all have written, rank 0 commits.
//
// How far every rank is travels in the small sum that each optimizer step makes anyway (SaveStatus),
// so that all ranks take the same turns and nothing else is sent on the step path. A save that
// fails is given up on all ranks, reported, and tried again at the next one; the checkpoints
// before it stand.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <functional>
#include <optional>

#include "lockstep/base/clock.h"
#include "lockstep/base/json.h"
#include "lockstep/checkpoint/background_job.h"
#include "lockstep/checkpoint/committer.h"
#include "lockstep/comm/mesh.h"
#include "lockstep/train/reporter.h"
#include "lockstep/train/training_state.h"

namespace lockstep::train {

// Of one rank, or summed over all of them.
struct SaveStatus {
  double written = 0, failed = 0, committed = 0;
};

class CheckpointSaver {
 public:
  // `committer` on rank 0, null elsewhere. All must outlive it. Reserves host memory of the size of this
  // rank's share.
  CheckpointSaver(comm::Mesh& mesh, c10::Device device, storage::ObjectStore& store, Reporter& reporter,
                  const TrainingState& state, checkpoint::Committer* committer, int generation,
                  std::string token, Json identity);

  // This rank's, for the next sum.
  SaveStatus status() const;
  // Collective, with the same sum on every rank. Throws GuardError when the run was taken over.
  void advance(const SaveStatus& sum);

  // Collective. Begins to save the state after `step` optimizer steps. Waits for the save before
  // it, no longer than a minute: then this one is left out, and reported.
  void save(int64_t step, const Json& state, const Json& metrics);

  // Collective. Waits until the save under way is committed or given up; false when its store did not
  // answer in ten minutes.
  bool settle();
  // The same, and throws IoError when the last save is not committed.
  void finish();

 private:
  enum class Phase { kIdle, kWriting, kCommitting };

  bool drain(std::chrono::milliseconds limit);
  void copy_state();
  void begin_commit();
  void end(const std::string& failure);
  void give_up();

  comm::Mesh& mesh_;
  const c10::Device device_;
  storage::ObjectStore& store_;
  Reporter& reporter_;
  const std::vector<StateSlice> share_;
  const checkpoint::ShardPlan plan_;
  checkpoint::Committer* committer_;

  Phase phase_ = Phase::kIdle;  // alike on every rank
  checkpoint::Manifest manifest_;
  at::Tensor image_;  // [plan_.num_bytes()] bytes: this rank's file; pinned on GPU machines
  checkpoint::ShardInfo written_;
  Stopwatch since_begin_;
  double snapshot_ms_ = 0, waited_ms_ = 0;
  std::string last_failure_;
  checkpoint::BackgroundJob job_;  // last: its thread uses the members above
};

}  // namespace lockstep::train
