#include "lockstep/train/checkpoint_saver.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <fmt/core.h>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/checkpoint/write_shard.h"
#include "lockstep/comm/exchange_text.h"

namespace lockstep::train {
namespace {

using State = checkpoint::BackgroundJob::State;

// How long a save may hold up the next one, and the end of the run.
constexpr std::chrono::seconds kLongestWait{60};
constexpr std::chrono::minutes kLongestLastWait{10};

std::vector<checkpoint::Slice> slices_of(const std::vector<StateSlice>& share) {
  std::vector<checkpoint::Slice> slices;
  for (const StateSlice& slice : share) slices.push_back(slice.slice);
  return slices;
}

std::span<std::byte> bytes_of(const at::Tensor& image) {
  return {reinterpret_cast<std::byte*>(image.mutable_data_ptr<uint8_t>()),
          static_cast<size_t>(image.numel())};
}

}  // namespace

CheckpointSaver::CheckpointSaver(comm::Mesh& mesh, c10::Device device, storage::ObjectStore& store,
                                 Reporter& reporter, const TrainingState& state,
                                 checkpoint::Committer* committer, int generation, std::string token,
                                 Json identity)
    : mesh_(mesh),
      device_(device),
      store_(store),
      reporter_(reporter),
      share_(state.share()),
      plan_(slices_of(share_), mesh.rank()),
      committer_(committer) {
  manifest_.id.generation = generation;
  manifest_.token = std::move(token);
  manifest_.world_size = mesh.world_size();
  manifest_.identity = std::move(identity);
  // Now and not with the first save: to pin 6 GB takes 6 seconds, in which no step runs.
  image_ =
      at::empty({plan_.num_bytes()}, at::TensorOptions().dtype(at::kByte).pinned_memory(device.is_cuda()));
  plan_.write_header(bytes_of(image_));
}

SaveStatus CheckpointSaver::status() const {
  const State state = job_.state();
  SaveStatus status;
  if (phase_ == Phase::kWriting && state == State::kDone) status.written = 1;
  if (phase_ == Phase::kCommitting && state == State::kDone && committer_ != nullptr) status.committed = 1;
  if (phase_ != Phase::kIdle && state == State::kFailed) status.failed = 1;
  return status;
}

void CheckpointSaver::advance(const SaveStatus& sum) {
  if (phase_ == Phase::kWriting && sum.written + sum.failed == mesh_.world_size()) {
    return sum.failed > 0 ? give_up() : begin_commit();
  }
  if (phase_ == Phase::kCommitting) {
    if (sum.failed > 0) return give_up();
    if (sum.committed > 0) return end("");
  }
}

void CheckpointSaver::save(int64_t step, const Json& state, const Json& metrics) {
  Stopwatch waiting;
  if (!drain(kLongestWait)) {
    const std::string reason = fmt::format(
        "the save of step {} has not ended yet: its store is slow or does not answer", manifest_.id.step);
    log::warning("checkpoint: step {} is not saved: {}", step, reason);
    reporter_.event("checkpoint_skipped", {{"step", step}, {"reason", reason}});
    return;
  }
  waited_ms_ = waiting.seconds() * 1000;
  since_begin_.restart();
  manifest_.id.step = step;
  manifest_.state = state;
  manifest_.metrics = metrics;
  manifest_.shards.clear();
  copy_state();
  snapshot_ms_ = since_begin_.seconds() * 1000;
  phase_ = Phase::kWriting;
  job_.start([this] {
    if (committer_ != nullptr) committer_->remove_abandoned(manifest_.id);
    written_ = checkpoint::write_shard(store_, manifest_.id, plan_.info(), bytes_of(image_));
  });
}

bool CheckpointSaver::settle() { return drain(kLongestLastWait); }

void CheckpointSaver::finish() {
  if (!settle()) {
    throw IoError(
        fmt::format("checkpoint: step {} could not be written within {} minutes: the store does not answer. "
                    "The checkpoints before it stand",
                    manifest_.id.step, kLongestLastWait.count()));
  }
  if (!last_failure_.empty()) {
    throw IoError(
        fmt::format("checkpoint: the last save failed: {}. The checkpoints before it stand", last_failure_));
  }
}

// Alternates between waiting for this rank's own job and hearing of the others', until nothing is
// under way. False when a job outlasted `limit` on some rank.
bool CheckpointSaver::drain(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (phase_ != Phase::kIdle) {
    const Phase before = phase_;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    job_.wait_for(std::max(left, std::chrono::milliseconds(0)));
    const SaveStatus mine = status();
    const at::Tensor sum = at::tensor({mine.written, mine.failed, mine.committed}, at::kDouble).to(device_);
    mesh_.world().all_reduce(sum).wait();
    const at::Tensor on_host = sum.to(at::kCPU);
    advance({on_host[0].item<double>(), on_host[1].item<double>(), on_host[2].item<double>()});
    if (phase_ == before) return false;
  }
  return true;
}

void CheckpointSaver::copy_state() {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < share_.size(); ++i) {
    const at::Tensor& values = share_[i].values;
    image_.narrow(0, plan_.position(i), share_[i].slice.num_bytes()).view(values.scalar_type()).copy_(values);
  }
}

// All files are there: rank 0 learns what is in them and commits, the others go on.
void CheckpointSaver::begin_commit() {
  const auto texts = comm::all_gather_text(mesh_.world(), written_.to_json().dump(), device_);
  job_.reset();
  phase_ = Phase::kCommitting;
  if (committer_ == nullptr) return;
  for (const std::string& text : texts) {
    manifest_.shards.push_back(checkpoint::ShardInfo::from_json(Json::parse(text)));
  }
  manifest_.time = utc_now();
  job_.start([this] { committer_->commit(manifest_); });
}

void CheckpointSaver::end(const std::string& failure) {
  phase_ = Phase::kIdle;
  last_failure_ = failure;
  job_.reset();
  if (!failure.empty()) {
    log::warning("checkpoint: step {} is not saved: {}", manifest_.id.step, failure);
    reporter_.event("checkpoint_failed", {{"step", manifest_.id.step}, {"reason", failure}});
    return;
  }
  if (committer_ == nullptr) return;
  reporter_.event("checkpoint", {{"step", manifest_.id.step},
                                 {"folder", checkpoint::folder_name(manifest_.id)},
                                 {"bytes", manifest_.num_bytes()},
                                 {"seconds", since_begin_.seconds()},
                                 {"snapshot_ms", snapshot_ms_},
                                 {"waited_ms", waited_ms_}});
}

// Some rank could not do its part: all learn why, and none waits for this save any more.
void CheckpointSaver::give_up() {
  const Json mine = {{"reason", job_.error()}, {"superseded", job_.failed_with(ExitCode::kGuard)}};
  std::string reason;
  bool superseded = false;
  const auto texts =
      comm::all_gather_text(mesh_.world(), mine.dump(-1, ' ', true, Json::error_handler_t::replace), device_);
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const Json theirs = Json::parse(texts[rank]);
    const auto words = theirs.at("reason").get<std::string>();
    if (words.empty()) continue;
    superseded = superseded || theirs.at("superseded").get<bool>();
    reason += fmt::format("{}{}", reason.empty() ? "" : "; ", words);
    if (!superseded) reason += fmt::format(" (rank {})", rank);
  }
  if (superseded) throw GuardError(reason);
  if (committer_ != nullptr) committer_->abandon(manifest_.id);
  end(reason);
}

}  // namespace lockstep::train
