// What a train function gets: the recipe, a sharded model, an optimizer, this rank's
// micro-batches, and a step that does the rest.
//
//   void train_func(lockstep::TrainContext& context) {
//     auto model = context.prepare_model(models::CausalLM::from_pretrained(context.recipe().model));
//     auto optimizer = context.prepare_optimizer(optim::AdamW(model.parameters(), {.lr = 1e-5}));
//     for (const Batch& batch : context.batches()) {
//       at::Tensor loss = model->loss(batch);               // sum over the trained tokens
//       if (context.step(loss, batch)) context.report({{"loss", context.step_loss()}});
//     }
//   }
//
// Every call is collective: all ranks make the same ones in the same order. One thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/base/json.h"
#include "lockstep/base/recipe.h"
#include "lockstep/data/dataset.h"
#include "lockstep/data/train_stream.h"
#include "lockstep/fsdp/sharded.h"
#include "lockstep/optim/adamw.h"
#include "lockstep/train/batch.h"
#include "lockstep/train/batch_range.h"
#include "lockstep/train/engine.h"
#include "lockstep/train/language_model.h"
#include "lockstep/train/non_finite.h"
#include "lockstep/train/out_of_memory.h"
#include "lockstep/train/phase_clock.h"
#include "lockstep/train/reporter.h"
#include "lockstep/train/run_checkpoints.h"
#include "lockstep/train/step_guard.h"

namespace lockstep::train {

// What the run trains on, opened before the train function is called.
struct RunData {
  std::shared_ptr<const data::Dataset> dataset;
  std::shared_ptr<const text::Tokenizer> tokenizer;  // null with data.source: random
  int64_t vocab_size = 0;                            // by model.source's config.json
};

class TrainContext {
 public:
  // Made by the worker (worker.h). `checkpoints`: where the run continues, and saves. `after_step` is called
  // with the steps that this start has done: 0 before the first, then after each.
  TrainContext(const Recipe& recipe, Engine& engine, Reporter& reporter, RunData data,
               RunCheckpoints& checkpoints, std::function<void(int64_t)> after_step);
  ~TrainContext();
  TrainContext(const TrainContext&) = delete;
  TrainContext& operator=(const TrainContext&) = delete;

  const Recipe& recipe() const { return recipe_; }
  int rank() const { return engine_.mesh().rank(); }
  int world_size() const { return engine_.mesh().world_size(); }
  c10::Device device() const { return engine_.device(); }
  comm::Mesh& mesh() { return engine_.mesh(); }
  int64_t vocab_size() const { return data_.vocab_size; }

  // Shards the model as the recipe says, on this rank's device. One model a run.
  template <typename Holder>
  fsdp::Sharded<Holder> prepare_model(Holder module) {
    begin_model(*module);
    if constexpr (std::is_same_v<Holder, models::CausalLM>) {
      engine_.configure(module);
    } else {
      refuse_recompute();
    }
    auto model = fsdp::fully_shard(std::move(module), mesh(), engine_.fsdp_options());
    LossFunction loss;
    if constexpr (requires(const Batch& batch) { model->loss(batch); }) {
      loss = [model](const Batch& batch) mutable { return model->loss(batch); };
    }
    std::optional<models::CausalLM> language_model;
    if constexpr (std::is_same_v<Holder, models::CausalLM>) language_model = model.module();
    end_model(model.shared_state(), std::move(loss), std::move(language_model));
    return model;
  }

  // An optimizer over model.parameters(). Its learning rate is the peak of the schedule.
  std::shared_ptr<optim::AdamW> prepare_optimizer(optim::AdamW optimizer);

  // How to measure the held-out loss of a model that has no loss(const Batch&) of its own, or
  // none that may be called past the handle. Before `batches`.
  void evaluate_with(LossFunction loss) { loss_ = std::move(loss); }

  // Continues at the run's newest checkpoint, if it has one, and gives this rank's micro-batches
  // from there to the last step, or until a signal or train.stop_after ends this start. The
  // held-out loss is measured before the first step of the run and after the last. Before each
  // micro-batch torch's generators are seeded by train.seed and the row that it begins with, so
  // that dropout and the like do not depend on ranks or restarts.
  BatchRange batches();

  // `loss`: a scalar, the sum over the micro-batch's trained tokens. Divides it by the tokens
  // of the whole global batch (batch.step_tokens), so that accumulation and ranks change
  // nothing, and runs backward. After the last micro-batch of a step: clips, updates, and
  // returns true. A step that the guard refuses (step_guard.h) leaves weights and optimizer as they
  // are; throws GuardError, on all ranks, when there are too many of them in a row.
  bool step(const at::Tensor& loss, const Batch& batch);

  // Of the last step, over the global batch: mean loss per trained token.
  double step_loss() const { return metrics_.loss; }
  int64_t steps_done() const { return steps_done_; }

  // Adds values of your own to the step's line of metrics, and ends the step: writes the
  // line, evaluates and saves when it is time. A step that is not reported ends by itself.
  void report(const std::vector<std::pair<std::string, double>>& values = {});

  // After the train function, when it has done all steps: the weights' hash, the model's folder,
  // the event `finished`, and the end of the last save. Throws IoError when that failed.
  void finish();

  // Why this rank's GPU was full when an allocation failed; empty when none has.
  std::string out_of_memory() const { return full_memory_ ? out_of_memory_words(*full_memory_) : ""; }
  // Whether this start ended before the last step, and by which signal; 0: by train.stop_after.
  bool stopped() const { return stopped_; }
  int stopped_by() const { return stopped_by_; }

 private:
  friend class BatchRange;
  std::optional<Batch> next_batch();
  FullMemory full_memory(int64_t asked_bytes) const;
  void begin_model(const torch::nn::Module& module);
  void refuse_recompute() const;
  void end_model(std::shared_ptr<fsdp::ShardedModule> state, LossFunction loss,
                 std::optional<models::CausalLM> language_model);
  void restore();
  void update(const Batch& batch);
  void skip(const Batch& batch, double loss, double norm, const std::string& reason);
  void end_step();
  void save();
  void evaluate(const std::string& when);

  const Recipe& recipe_;
  Engine& engine_;
  Reporter& reporter_;
  RunData data_;
  std::function<void(int64_t)> after_step_;

  RunCheckpoints& checkpoints_;
  StepGuard guard_;

  std::unique_ptr<data::TrainStream> stream_;
  std::shared_ptr<fsdp::ShardedModule> model_;
  LossFunction loss_;
  std::unique_ptr<LanguageModel> language_model_;
  std::shared_ptr<optim::AdamW> optimizer_;
  std::unique_ptr<TrainingState> state_;
  double peak_lr_ = 0;

  at::Tensor loss_sum_;  // float64 scalar on the device: this rank's share of the step's loss
  std::vector<MicroBatchLoss> micro_batches_;  // of the step under way
  int64_t steps_done_ = 0, first_step_ = 0;    // of the run; done when this start began
  bool step_open_ = false;                     // updated, but its line of metrics is not written yet
  record::StepMetrics metrics_;                // of the last step
  std::map<std::string, double> held_out_;     // loss by "before", "during" (the last), "after"
  std::optional<int64_t> evaluated_at_;        // steps done when "during" was measured
  std::chrono::steady_clock::time_point step_start_;
  PhaseClock clock_;  // this rank's own time of the step under way
  Stopwatch since_save_;
  std::optional<FullMemory> full_memory_;
  bool save_is_due_ = false;  // alike on every rank
  bool stopped_ = false;
  int stopped_by_ = 0;
};

}  // namespace lockstep::train
