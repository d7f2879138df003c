#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/bench/output.h"
#include "lockstep/bench/repeated_weights.h"
#include "lockstep/bench/report.h"
#include "lockstep/bench/step_clock.h"
#include "lockstep/bench/step_trace.h"
#include "lockstep/bench/train_bench.h"
#include "lockstep/bench/train_report.h"
#include "lockstep/comm/cuda_library.h"
#include "lockstep/fsdp/gradient_norm.h"
#include "lockstep/fsdp/sharded.h"
#include "lockstep/models/causal_lm.h"
#include "lockstep/optim/adamw.h"
#include "lockstep/train/engine.h"

namespace lockstep::bench {
namespace {

// Before the first call to torch, which remembers for good whether there was CUDA.
bool use_gpu(const Recipe& recipe) {
  if (!recipe.scaling.use_gpu.value_or(true)) return false;
  const comm::CudaLibrary& library = comm::load_cuda_library();
  if (recipe.scaling.use_gpu == true && !library.loaded)
    throw ConfigError("bench: scaling.use_gpu is true, but " + library.reason);
  return library.loaded;
}

// One document a row, on the CPU as the data pipeline leaves it; the last token predicts nothing.
models::ModelInput random_rows(const TrainOptions& options, int64_t vocab_size) {
  const int64_t rows = options.batch, length = options.sequence_length;
  models::ModelInput input{.tokens = at::randint(vocab_size, {rows, length}, at::kLong),
                           .positions = at::arange(length, at::kLong).expand({rows, length}).contiguous(),
                           .document_ids = at::zeros({rows, length}, at::kInt),
                           .targets = at::full({rows, length}, -100, at::kLong)};
  input.targets.narrow(1, 0, length - 1).copy_(input.tokens.narrow(1, 1, length - 1));
  return input;
}

class Worker {
 public:
  Worker(const TrainOptions& options, const Recipe& recipe, const train::RunPlan& plan,
         const launch::WorkerEnv& env)
      : options_(options),
        recipe_(recipe),
        plan_(plan),
        spec_(models::ModelSpec::load(options.model)),
        engine_(recipe, plan, env),
        model_(shard()),
        optimizer_(model_.parameters(), {.lr = recipe.optimizer.lr,
                                         .beta1 = recipe.optimizer.beta1,
                                         .beta2 = recipe.optimizer.beta2,
                                         .eps = recipe.optimizer.eps,
                                         .weight_decay = recipe.optimizer.weight_decay}) {
    report_.options = options;
    const auto place = RankPlace::of_this_process(env.rank, env.local_rank, plan.use_gpu);
    report_.device = place.model;
    if (plan.use_gpu && env.rank == 0) watch_power(place.address);
    report_.strategy = plan.strategy;
    report_.compute = plan.compute;
    report_.determinism = recipe.determinism;
    report_.accumulation = plan.accumulation;
    report_.parameters = model_.state().numel();
    report_.flops_per_token = flops_per_token(spec_, options.sequence_length);
  }

  TrainReport run() {
    StepClock clock(engine_.device());
    at::Tensor loss;
    for (int step = 0; step < options_.warmup + options_.steps; ++step) {
      if (step == options_.warmup) mark(clock);
      loss = train(random_micro_batches());
      if (step >= options_.warmup) mark(clock);
    }
    report_.step_ms = clock.step_ms();
    if (gpu_power_) report_.power = PowerUse::of(*gpu_power_, power_samples_);
    report_.loss = loss.item<double>();  // of this rank's rows: all are alike
    report_.peak_bytes = engine_.peak_bytes();
    if (!options_.trace.empty()) trace();
    engine_.mesh().world().barrier();  // nobody leaves while others still talk to its store
    return report_;
  }

 private:
  void watch_power(const std::string& bus_id) {
    gpu_power_.emplace(bus_id);
    if (!gpu_power_->problem().empty()) log::info("the GPU's power is not told: {}", gpu_power_->problem());
  }

  // A step begins or is enqueued, while the GPU still works on those before.
  void mark(StepClock& clock) {
    clock.mark();
    if (!gpu_power_) return;
    if (const auto sample = gpu_power_->sample()) power_samples_.push_back(*sample);
  }

  fsdp::Sharded<models::CausalLM> shard() {
    if (options_.stand_for) {
      engine_.stand_in(*options_.stand_for);
    } else {
      engine_.connect();
    }
    models::CausalLM model(spec_, std::make_unique<RepeatedWeights>(spec_.initializer_range));
    engine_.configure(model);
    return fsdp::fully_shard(model, engine_.mesh(), engine_.fsdp_options());
  }

  std::vector<models::ModelInput> random_micro_batches() const {
    std::vector<models::ModelInput> micro_batches;
    for (int64_t i = 0; i < plan_.accumulation; ++i)
      micro_batches.push_back(random_rows(options_, spec_.vocab_size));
    return micro_batches;
  }

  // Every rank's step, with worker 0 looking on.
  void trace() {
    const auto micro_batches = random_micro_batches();
    const auto step = [&] {
      train(micro_batches);
      finish();
    };
    if (engine_.mesh().rank() != 0) return step();
    report_.kernels = times_of(trace_step(options_.trace, step));
  }

  // One optimizer step; returns the mean loss of a token.
  at::Tensor train(const std::vector<models::ModelInput>& micro_batches) {
    const auto tokens =
        static_cast<double>(options_.batch * (options_.sequence_length - 1) * plan_.accumulation);
    at::Tensor sum = at::zeros({}, at::TensorOptions().dtype(at::kDouble).device(engine_.device()));
    for (size_t i = 0; i < micro_batches.size(); ++i) {
      model_.state().set_last_micro_batch(i + 1 == micro_batches.size());
      const at::Tensor loss = model_->loss(micro_batches[i]);
      (loss / (tokens * options_.world_size())).backward();
      sum += loss.detach();
    }
    const double norm = model_.state().grad_norm();
    optimizer_.step(fsdp::clip_scale(norm, recipe_.optimizer.max_grad_norm), model_.state().compute_copies());
    model_.state().copies_written();
    optimizer_.zero_grad();
    return sum / tokens;
  }

  // Until all that was enqueued is done.
  void finish() {
    const auto device = engine_.device();
    if (device.is_cuda()) c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
  }

  const TrainOptions& options_;
  const Recipe& recipe_;
  const train::RunPlan& plan_;
  models::ModelSpec spec_;
  train::Engine engine_;
  fsdp::Sharded<models::CausalLM> model_;
  optim::AdamW optimizer_;
  TrainReport report_;
  std::optional<GpuPower> gpu_power_;  // of worker 0, on a GPU
  std::vector<GpuPower::Sample> power_samples_;
};

}  // namespace

int run_train_worker(const TrainOptions& options, const launch::WorkerEnv& env) {
  log::set_rank(env.rank);
  const Recipe recipe = options.recipe();
  const train::RunPlan plan =
      train::plan_run_of(recipe, options.stand_for.value_or(env.world_size), use_gpu(recipe));
  const TrainReport report = Worker(options, recipe, plan, env).run();
  if (env.rank == 0) Output(env).print(options.json ? to_json(report).dump(2) : to_text(report));
  return 0;
}

}  // namespace lockstep::bench
