#include "lockstep/train/worker.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <optional>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/base/stack_dump.h"
#include "lockstep/comm/cuda_library.h"
#include "lockstep/record/host.h"
#include "lockstep/train/first_steps.h"
#include "lockstep/train/network_gate.h"
#include "lockstep/train/program_facts.h"
#include "lockstep/train/run_identity.h"
#include "lockstep/train/run_start.h"
#include "lockstep/train/stop_request.h"
#include "lockstep/train/together.h"
#include "lockstep/train/train_context.h"

namespace lockstep::train {
namespace {

RunData open_data(const Recipe& recipe) {
  RunData data;
  if (recipe.model.source.empty()) {
    throw ConfigError(
        "model.source is not set: give the folder of a model; its config.json and tokenizer are needed");
  }
  const auto spec = models::ModelSpec::load(recipe.model.source);
  data.vocab_size = spec.vocab_size;
  if (recipe.data.source != "random") {
    data.tokenizer = text::Tokenizer::from_pretrained(recipe.model.source);
    spec.require_vocabulary(data.tokenizer->vocab_size(), recipe.model.source);
  }
  data.dataset = data::Dataset::open(recipe, data.tokenizer.get(), data.vocab_size);
  return data;
}

// What the gate found, in the record and for whoever watches. Throws TransportError when it refuses.
void settle_network(Reporter& reporter, const Admission& admission, int generation) {
  if (reporter.is_writer()) {
    Json brief = admission.report;
    brief.erase("communicators");  // each with its pairs of ranks: for the file alone
    reporter.event("verdict", {{"when", "start"}, {"report", brief}});
    const std::string text = admission.report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    reporter.run().store().put(record::verdict_key(generation), storage::as_bytes(text));
    log::info("transport: {} ({}): {}", word(admission.verdict.transport), word(admission.verdict.level),
              admission.verdict.reason);
  }
  if (admission.refusal.empty()) return;
  throw TransportError(fmt::format("transport: {}. All that was found: {}/{}", admission.refusal,
                                   reporter.run().path(), record::verdict_key(generation)));
}

void start_record(Reporter& reporter, const Recipe& recipe, const data::Dataset& dataset,
                  const std::map<std::string, std::string>& environment,
                  const std::map<std::string, std::string>& python_packages,
                  const std::vector<std::string>& command) {
  const ProgramFacts facts = program_facts();
  reporter.record([&](record::Record& record) {
    record.started = utc_now();
    record.command = command;
    record.recipe = recipe.effective();
    record.commit = facts.commit;
    record.binary_sha256 = facts.binary_sha256;
    record.libraries = facts.libraries;
    record.python_packages = python_packages;
    record.hosts = {record::HostFacts::of_this_machine().to_json()};
    record.environment = environment;
    for (const auto& file : dataset.summary().files) record.data_sha256[file.path] = file.sha256;
  });
}

}  // namespace

int run_worker(const launch::WorkerEnv& env, const std::string& recipe_path,
               const std::vector<std::string>& overrides, const std::vector<std::string>& command,
               const TrainFunction& train_func) {
  log::set_rank(env.rank);
  take_over_signals();
  dump_stack_on_sigusr2();
  const Recipe recipe = Recipe::load(recipe_path, overrides);
  // Before the first call to torch, which remembers for good whether there was CUDA.
  const bool use_gpu = recipe.scaling.use_gpu.value_or(true) && comm::load_cuda_library().loaded;
  if (recipe.scaling.use_gpu == true && !use_gpu) {
    throw ConfigError("scaling.use_gpu is true, but " + comm::load_cuda_library().reason +
                      ". Set scaling.use_gpu=false to train on the CPU");
  }
  const RunPlan plan = plan_run_of(recipe, env.world_size, use_gpu);
  const auto environment = record::relevant_environment(environ);  // the user's: the gate changes NCCL's
  NetworkGate gate(recipe.network, env, use_gpu);
  Engine engine(recipe, plan, env);
  Admission admission = gate.admit(engine);
  if (!admission.refusal.empty() && env.run_dir.empty()) {
    throw TransportError("transport: " + admission.refusal);  // before it has a folder to write to
  }
  launch::WorkerEnv place = env;
  std::optional<RunStart> start;  // its lock is held to the end
  if (env.run_dir.empty()) {      // torchrun and the like: then rank 0 does the driver's part
    place.run_dir = plan.run_dir;
    place.generation = std::stoi(from_rank_0(engine.mesh(), engine.device(), [&] {
      start = start_run(plan.run_dir, recipe_path, recipe);
      return std::to_string(start->generation);
    }));
  }
  gate.keep_log(place.run_dir, place.generation);
  Reporter reporter(place);
  settle_network(reporter, admission, place.generation);
  const RunData data = open_data(recipe);
  start_record(reporter, recipe, *data.dataset, environment, env.python_packages, command);
  if (env.rank == 0) {
    for (const auto& line : data.dataset->summary().to_lines()) log::info("{}", line);
  }
  reporter.event("started", {{"steps", data.dataset->steps_total()},
                             {"world_size", env.world_size},
                             {"device", engine.device().str()},
                             {"strategy", plan.strategy},
                             {"precision", plan.compute},
                             {"data", data.dataset->summary().to_json()}});

  RunCheckpoints checkpoints(recipe, engine, reporter, place.generation, place.continue_from,
                             run_identity(recipe, plan, data.dataset->summary()));
  FirstSteps first_steps(recipe.network, engine, admission, reporter);
  TrainContext context(recipe, engine, reporter, data, checkpoints,
                       [&](int64_t steps) { first_steps.after(steps); });
  try {
    train_func(context);
    if (!context.stopped()) context.finish();
  } catch (const c10::OutOfMemoryError& error) {
    const std::string words = context.out_of_memory();
    throw DoesNotFitError("train: " + (words.empty() ? error.what_without_backtrace() : words));
  }

  const auto code = !context.stopped()                ? ExitCode::kFinished
                    : context.stopped_by() == SIGINT  ? ExitCode::kInterrupted
                    : context.stopped_by() == SIGTERM ? ExitCode::kPreempted
                                                      : ExitCode::kFinished;
  if (context.stopped()) {
    reporter.event("stopped", {{"step", context.steps_done()},
                               {"reason", code == ExitCode::kInterrupted ? "SIGINT"
                                          : code == ExitCode::kPreempted ? "SIGTERM"
                                                                         : "train.stop_after"}});
  }
  reporter.record([&](record::Record& record) {
    record.finished = utc_now();
    record.results["exit_code"] = static_cast<int>(code);
    record.results["steps"] = context.steps_done();
  });
  engine.mesh().world().barrier();  // nobody leaves while others still talk to its store
  return static_cast<int>(code);
}

}  // namespace lockstep::train
