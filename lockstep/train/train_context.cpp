#include "lockstep/train/train_context.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>
#include <csignal>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/optim/schedule.h"
#include "lockstep/train/step_verdict.h"
#include "lockstep/train/stop_request.h"

namespace lockstep::train {

TrainContext::TrainContext(const Recipe& recipe, Engine& engine, Reporter& reporter, RunData data,
                           std::function<void(comm::Mesh&)> before_weights)
    : recipe_(recipe),
      engine_(engine),
      reporter_(reporter),
      data_(std::move(data)),
      before_weights_(std::move(before_weights)),
      step_start_(std::chrono::steady_clock::now()) {}

void TrainContext::begin_model() {
  if (model_) {
    throw ConfigError(
        "train: prepare_model was called twice; a run trains one model. Put both into one module");
  }
  if (before_weights_) before_weights_(mesh());
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
  return optimizer_;
}

BatchRange TrainContext::batches() {
  LOCKSTEP_CHECK(model_ && optimizer_) << "prepare_model and prepare_optimizer come before batches";
  stream_ = std::make_unique<data::TrainStream>(data_.dataset, rank(), world_size());
  evaluate("before");
  step_start_ = std::chrono::steady_clock::now();
  return BatchRange(*this);
}

std::optional<Batch> TrainContext::next_batch() {
  end_step();
  if (stopped_by_ != 0) return std::nullopt;
  auto batch = stream_->next();
  if (!batch) {
    // Here and not in `finish`: evaluate_with's function may refer to the train function's own.
    evaluate("after");
    return std::nullopt;
  }
  return Batch(std::move(*batch));
}

void BatchRange::advance() { current_ = context_.next_batch(); }

bool TrainContext::step(const at::Tensor& loss, const Batch& batch) {
  LOCKSTEP_CHECK(loss.numel() == 1) << "a loss is a scalar, got " << loss.sizes();
  mesh().position().step = batch.step;
  model_->set_last_micro_batch(batch.last_micro_batch);
  const at::Tensor share = loss / static_cast<double>(batch.step_tokens);
  share.backward();
  const at::Tensor value = share.detach().to(at::kDouble);
  loss_sum_ = loss_sum_.defined() ? loss_sum_ + value : value;
  if (!batch.last_micro_batch) return false;
  update(batch);
  return true;
}

void TrainContext::update(const Batch& batch) {
  mesh().position().phase = "optimizer";
  // One small sum tells every rank the loss and whether a signal came to any of them.
  const int signal = stop_signal();
  const auto options = loss_sum_.options();
  at::Tensor sums = at::stack({loss_sum_.squeeze(), at::full({}, signal == SIGINT ? 1.0 : 0.0, options),
                               at::full({}, signal == SIGTERM ? 1.0 : 0.0, options)});
  loss_sum_.reset();
  mesh().world().all_reduce(sums).wait();
  const double norm = model_->clip_grad_norm(recipe_.optimizer.max_grad_norm);
  const at::Tensor on_host = sums.to(at::kCPU);
  const double loss = on_host[0].item<double>();
  if (!std::isfinite(loss) || !std::isfinite(norm)) {
    throw GuardError(
        fmt::format("train: step {} has loss {} and gradient norm {}; the weights are as they were before "
                    "it. Look at rows {} "
                    "to {} of the data (docs/data.md tells their order), or lower optimizer.lr",
                    batch.step + 1, loss, norm, batch.step * recipe_.train.global_batch,
                    (batch.step + 1) * recipe_.train.global_batch - 1));
  }
  optimizer_->set_lr(
      optim::learning_rate(recipe_.schedule, peak_lr_, batch.step, data_.dataset->steps_total()));
  optimizer_->step();
  optimizer_->zero_grad();

  if (on_host[1].item<double>() > 0) stopped_by_ = SIGINT;
  if (on_host[2].item<double>() > 0) stopped_by_ = SIGTERM;
  steps_done_ = batch.step + 1;
  const auto now = std::chrono::steady_clock::now();
  metrics_ = {};
  metrics_.step = steps_done_;
  metrics_.loss = loss;
  metrics_.tokens = batch.step_tokens;
  metrics_.step_ms = std::chrono::duration<double, std::milli>(now - step_start_).count();
  metrics_.tokens_per_s = static_cast<double>(batch.step_tokens) / (metrics_.step_ms / 1000);
  metrics_.grad_norm = norm;
  metrics_.lr = optimizer_->lr();
  metrics_.peak_bytes = engine_.peak_bytes();
  step_start_ = now;
  step_open_ = true;
}

void TrainContext::report(const std::vector<std::pair<std::string, double>>& values) {
  for (const auto& [name, value] : values) metrics_.reported[name] = value;
  end_step();
}

void TrainContext::end_step() {
  if (!std::exchange(step_open_, false)) return;
  reporter_.metrics(metrics_);
  const auto verdict = verdict_after(steps_done_, data_.dataset->steps_total(),
                                     recipe_.evaluation.interval_steps.value_or(0), stopped_by_ != 0);
  if (verdict.evaluate) {
    evaluate("during");
    step_start_ = std::chrono::steady_clock::now();
  }
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
}

}  // namespace lockstep::train
