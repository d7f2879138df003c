#include "lockstep/train/train_context.h"

#include <ATen/Context.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/fsdp/gradient_norm.h"
#include "lockstep/optim/schedule.h"
#include "lockstep/train/narrow_master.h"
#include "lockstep/train/step_exchange.h"
#include "lockstep/train/step_verdict.h"
#include "lockstep/train/stop_request.h"
#include "lockstep/train/straggler.h"

namespace lockstep::train {
namespace {

// Tied ones once.
int64_t num_parameters(const torch::nn::Module& module) {
  std::set<const void*> seen;
  int64_t total = 0;
  for (const auto& parameter : module.parameters()) {
    if (seen.insert(parameter.unsafeGetTensorImpl()).second) total += parameter.numel();
  }
  return total;
}

// A seed for what begins at `row`, unlike that of any row beside it (Steele et al. 2014, splitmix64).
uint64_t row_seed(uint64_t seed, int64_t row) {
  uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (static_cast<uint64_t>(row) + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

constexpr std::chrono::minutes kSaveInterval{30};  // without checkpoint.interval_steps

}  // namespace

TrainContext::TrainContext(const Recipe& recipe, Engine& engine, Reporter& reporter, RunData data,
                           RunCheckpoints& checkpoints, std::function<void(int64_t)> after_step)
    : recipe_(recipe),
      engine_(engine),
      reporter_(reporter),
      data_(std::move(data)),
      after_step_(std::move(after_step)),
      checkpoints_(checkpoints),
      guard_(recipe.guard),
      step_start_(std::chrono::steady_clock::now()) {
  // What a train function draws before its first batch, above all the weights of a module of its own.
  at::manual_seed(recipe.train.seed);
  if (!device().is_cuda()) return;
  comm::cuda_backend()->watch_out_of_memory([this](int64_t asked) { full_memory_ = full_memory(asked); });
}

TrainContext::~TrainContext() {
  if (device().is_cuda()) comm::cuda_backend()->watch_out_of_memory(nullptr);
}

FullMemory TrainContext::full_memory(int64_t asked_bytes) const {
  const auto memory = engine_.gpu_memory();
  FullMemory full{.device = device().str(),
                  .where = engine_.mesh().position().words(),
                  .asked = asked_bytes,
                  .total = memory.total_bytes,
                  .free = memory.free_bytes,
                  .allowed = memory.allowed_bytes,
                  .tensors = memory.tensor_bytes,
                  .allocator = memory.allocator_bytes,
                  .micro_batch = recipe_.train.micro_batch,
                  .sequence_length = recipe_.data.sequence_length,
                  .num_workers = world_size(),
                  .sharded = engine_.mesh().shard_size() > 1,
                  .narrow_master = recipe_.precision.master == "bf16",
                  .recompute = recipe_.sharding.recompute};
  if (model_) {
    const auto held = model_->held_bytes();
    full.shards = held.shards;
    full.gradients = held.gradients;
    full.gathered = held.gathered;
  }
  if (optimizer_) {
    for (const auto& state : optimizer_->state())
      if (state.tensor.is_cuda()) full.optimizer += static_cast<int64_t>(state.tensor.nbytes());
  }
  return full;
}

void TrainContext::begin_model(const torch::nn::Module& module) {
  if (model_) {
    throw ConfigError(
        "train: prepare_model was called twice; a run trains one model. Put both into one module");
  }
  mesh().position().phase = "storage check";
  // Weights and AdamW's two moments, in the master's dtype.
  checkpoints_.check_storage(3 * num_parameters(module) *
                             static_cast<int64_t>(c10::elementSize(engine_.fsdp_options().master)));
}

// A module of the user's own says itself what is computed again: nn::recomputed.
void TrainContext::refuse_recompute() const {
  if (recipe_.sharding.recompute == "none") return;
  throw ConfigError(fmt::format(
      "sharding.recompute is {}, which is for the layers of models::CausalLM: leave it out, and use "
      "nn::recomputed in the model",
      recipe_.sharding.recompute));
}

void TrainContext::end_model(std::shared_ptr<fsdp::ShardedModule> state, LossFunction loss,
                             std::optional<models::CausalLM> language_model) {
  model_ = std::move(state);
  loss_ = std::move(loss);
  if (language_model) {
    language_model_ =
        std::make_unique<LanguageModel>(*language_model, model_, recipe_, data_.tokenizer.get());
  }
  Json units = Json::array();
  for (const auto& unit : model_->units()) {
    log::info("unit {} ({}): {} parameters, {} of them frozen", unit.name, unit.type, unit.numel,
              unit.frozen_numel);
    units.push_back({{"name", unit.name}, {"type", unit.type}, {"parameters", unit.numel}});
  }
  reporter_.event("model", {{"parameters", model_->numel()}, {"units", units}});
}

std::shared_ptr<optim::AdamW> TrainContext::prepare_optimizer(optim::AdamW optimizer) {
  optimizer_ = std::make_shared<optim::AdamW>(std::move(optimizer));
  peak_lr_ = optimizer_->lr();
  if (const auto lost = narrow_master_warning(engine_.fsdp_options().master, peak_lr_); lost && rank() == 0) {
    log::warning("{}", *lost);
    reporter_.event("warning", {{"key", "precision.master"}, {"message", *lost}});
  }
  return optimizer_;
}

BatchRange TrainContext::batches() {
  LOCKSTEP_CHECK(model_ && optimizer_) << "prepare_model and prepare_optimizer come before batches";
  restore();
  stream_ = std::make_unique<data::TrainStream>(data_.dataset, rank(), world_size(),
                                                steps_done_ * data_.dataset->global_batch());
  if (steps_done_ == 0) evaluate("before");
  after_step_(0);
  step_start_ = std::chrono::steady_clock::now();
  clock_.take();
  since_save_.restart();
  return BatchRange(*this);
}

void TrainContext::restore() {
  mesh().position().phase = "restore";
  state_ = std::make_unique<TrainingState>(*model_, *optimizer_);
  const auto restored = checkpoints_.restore(*state_);
  if (!restored) return;
  first_step_ = steps_done_ = restored->step;
  if (const Json& loss = restored->metrics.at("loss"); loss.is_number()) metrics_.loss = loss.get<double>();
  guard_.load_state(restored->state.at("guard"));
  for (const auto& [when, loss] : restored->state.at("held_out").items())
    held_out_[when] = loss.get<double>();
  if (rank() == 0) log::info("continuing after step {}", steps_done_);
}

std::optional<Batch> TrainContext::next_batch() {
  end_step();
  if (stopped_) return std::nullopt;
  clock_.enter(Phase::kData);
  auto batch = stream_->next();
  if (!batch) {
    // Here and not in `finish`: evaluate_with's function may refer to the train function's own.
    clock_.pause();
    evaluate("after");
    return std::nullopt;
  }
  clock_.enter(Phase::kForward);
  mesh().position().step = batch->step;
  at::manual_seed(row_seed(recipe_.train.seed, batch->first_row));
  return Batch(std::move(*batch));
}

void BatchRange::advance() { current_ = context_.next_batch(); }

bool TrainContext::step(const at::Tensor& loss, const Batch& batch) {
  LOCKSTEP_CHECK(loss.numel() == 1) << "a loss is a scalar, got " << loss.sizes();
  clock_.enter(Phase::kBackward);
  model_->set_last_micro_batch(batch.last_micro_batch);
  const at::Tensor share = loss / static_cast<double>(batch.step_tokens);
  share.backward();
  const at::Tensor value = share.detach().to(at::kDouble);
  loss_sum_ = loss_sum_.defined() ? loss_sum_ + value : value;
  micro_batches_.push_back({loss.detach(), batch.first_row, batch.tokens.size(0)});
  if (batch.last_micro_batch) update(batch);
  clock_.enter(Phase::kReport);
  return batch.last_micro_batch;
}

void TrainContext::update(const Batch& batch) {
  mesh().position().phase = "optimizer";
  const RankNews mine{.stop_signal = stop_signal(),
                      .saving = checkpoints_.saver().status(),
                      .half_hour_is_over = since_save_.elapsed() >= kSaveInterval,
                      .times = clock_.take()};
  clock_.pause();  // on a GPU the host now waits for the device
  const at::Tensor sum = exchange(mesh(), loss_sum_, mine);
  loss_sum_.reset();
  const double norm = model_->grad_norm();
  const StepNews news = read_news(sum, world_size());
  clock_.enter(Phase::kOptimizer);
  if (news.stop_signal != 0) stopped_by_ = news.stop_signal;
  checkpoints_.saver().advance(news.saving);
  save_is_due_ = news.half_hour_is_over;

  metrics_ = {};
  const auto reason = guard_.judge(news.loss, norm);
  if (reason) {
    skip(batch, news.loss, norm, *reason);
  } else {
    optimizer_->set_lr(
        optim::learning_rate(recipe_.schedule, peak_lr_, batch.step, data_.dataset->steps_total()));
    optimizer_->step(fsdp::clip_scale(norm, recipe_.optimizer.max_grad_norm), model_->compute_copies());
    model_->copies_written();
  }
  optimizer_->zero_grad();
  micro_batches_.clear();

  steps_done_ = batch.step + 1;
  const auto now = std::chrono::steady_clock::now();
  metrics_.step = steps_done_;
  metrics_.loss = news.loss;
  metrics_.tokens = batch.step_tokens;
  metrics_.step_ms = std::chrono::duration<double, std::milli>(now - step_start_).count();
  metrics_.tokens_per_s = static_cast<double>(batch.step_tokens) / (metrics_.step_ms / 1000);
  metrics_.grad_norm = norm;
  metrics_.lr = optimizer_->lr();
  metrics_.peak_bytes = engine_.peak_bytes();
  if (world_size() > 1) metrics_.slowest = slowest_of(news.times);
  step_start_ = now;
  step_open_ = true;
}

void TrainContext::report(const std::vector<std::pair<std::string, double>>& values) {
  for (const auto& [name, value] : values) metrics_.reported[name] = value;
  end_step();
}

// The weights, and all that the optimizer remembers, stay as if this step had not been.
void TrainContext::skip(const Batch& batch, double loss, double norm, const std::string& reason) {
  auto rows = non_finite_rows(micro_batches_, mesh(), device());
  const int64_t first_row = batch.step * recipe_.train.global_batch;
  const bool all_rows = rows.empty();  // no row by itself: the step's as a whole
  const std::string row_words =
      all_rows ? fmt::format("rows {} to {}", first_row, first_row + recipe_.train.global_batch - 1)
               : fmt::format("row{} {}", rows.size() == 1 ? "" : "s", fmt::join(rows, ", "));
  const std::string where = first_non_finite(*model_);
  metrics_.skipped = reason;
  reporter_.event("step_skipped", {{"step", batch.step + 1},
                                   {"reason", reason},
                                   {"loss", loss},
                                   {"grad_norm", norm},
                                   {"rows", all_rows ? Json() : Json(rows)},
                                   {"where", where}});
  if (rank() == 0) log::warning("step {} is skipped: {} ({}; {})", batch.step + 1, reason, row_words, where);
  if (!guard_.exceeded()) return;
  checkpoints_.saver().settle();  // the checkpoint of the last good step
  throw GuardError(fmt::format(
      "train: step {} would have to be skipped, more in a row than guard.max_skipped ({}) allows: {}; it "
      "comes from {}; "
      "{}. The weights are as they were before. Look at those rows (docs/data.md tells their order), lower "
      "optimizer.lr, or raise guard.max_skipped",
      batch.step + 1, recipe_.guard.max_skipped, reason, row_words, where));
}

void TrainContext::end_step() {
  if (!std::exchange(step_open_, false)) return;
  reporter_.metrics(metrics_);
  const auto verdict = verdict_after({.steps_done = steps_done_,
                                      .steps_total = data_.dataset->steps_total(),
                                      .steps_of_this_start = steps_done_ - first_step_,
                                      .stop_requested = stopped_by_ != 0,
                                      .half_hour_is_over = save_is_due_},
                                     recipe_);
  clock_.pause();
  after_step_(steps_done_ - first_step_);
  if (verdict.evaluate) evaluate("during");
  if (verdict.save) save();
  stopped_ = verdict.stop;
  if (stopped_) checkpoints_.saver().finish();
  if (verdict.evaluate || verdict.save) step_start_ = std::chrono::steady_clock::now();
  clock_.enter(Phase::kReport);
}

void TrainContext::save() {
  mesh().position().phase = "checkpoint";
  const bool evaluated_now = evaluated_at_ == steps_done_;
  checkpoints_.saver().save(
      steps_done_,
      {{"rows", steps_done_ * data_.dataset->global_batch()},
       {"updates", state_->updates()},
       {"guard", guard_.state()},
       {"held_out", held_out_}},
      {{"loss", metrics_.loss}, {"held_out_loss", evaluated_now ? Json(held_out_.at("during")) : Json()}});
  since_save_.restart();
}

void TrainContext::evaluate(const std::string& when) {
  if (data_.dataset->held_out() != nullptr) {
    if (!loss_) {
      throw ConfigError(
          "evaluation: data.held_out is set, but how to measure a loss on it is not known. Call "
          "context.evaluate_with before context.batches, or leave data.held_out out");
    }
    mesh().position().phase = "evaluation";
    const auto [loss, tokens] = held_out_loss(data_.dataset, loss_, mesh());
    held_out_[when] = loss;
    if (when == "during") evaluated_at_ = steps_done_;
    reporter_.event(
        "evaluation",
        {{"when", when}, {"step", steps_done_}, {"source", "held_out"}, {"loss", loss}, {"tokens", tokens}});
  }
  if (language_model_ && when != "during") {
    for (const auto& answer : language_model_->answer_prompts()) {
      reporter_.event("answer", {{"when", when}, {"prompt", answer.prompt}, {"text", answer.text}});
    }
  }
}

void TrainContext::finish() {
  end_step();
  if (!model_ || steps_done_ == 0) return;
  mesh().position().phase = "export";
  const std::string hash = weights_sha256(*model_);
  Json finished{{"steps", steps_done_}, {"loss", metrics_.loss}, {"weights_sha256", hash}};
  if (language_model_) {
    const std::string folder = reporter_.run().model_path();
    language_model_->write_folder(folder);
    finished["model"] = folder;
  }
  reporter_.event("finished", finished);
  reporter_.record([&](record::Record& record) {
    record.weights_sha256["after"] = hash;
    record.results = finished;
    for (const auto& [when, loss] : held_out_) record.results["held_out_loss"][when] = loss;
  });
  mesh().position().phase = "checkpoint";
  checkpoints_.saver().finish();
}

}  // namespace lockstep::train
