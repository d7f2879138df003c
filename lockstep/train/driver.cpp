#include "lockstep/train/driver.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/launch/event_text.h"
#include "lockstep/launch/local_launcher.h"
#include "lockstep/launch/progress.h"
#include "lockstep/launch/stop_signals.h"
#include "lockstep/record/event_sink.h"
#include "lockstep/record/run_directory.h"
#include "lockstep/train/recipe_text.h"
#include "lockstep/train/restart_policy.h"
#include "lockstep/train/run_plan.h"
#include "lockstep/train/run_start.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

launch::ProgressOptions progress_options(const DriverOptions& options, const Recipe& recipe) {
  using Style = launch::ProgressOptions::Style;
  launch::ProgressOptions progress = launch::ProgressOptions::for_stdout();
  if (options.json) progress.style = Style::kJson;
  if (options.quiet) progress.style = Style::kQuiet;
  progress.total_steps = recipe.train.steps;
  return progress;
}

int print_plan(const DriverOptions& options, const Recipe& recipe, const RunPlan& plan) {
  if (options.json) {
    std::cout << Json{{"plan", plan.to_json()}, {"recipe", recipe.effective()}}.dump() << '\n';
  } else {
    std::cout << "# " << plan.text() << '\n' << recipe_text(recipe);
  }
  return 0;
}

// One run: its folder, its driver's events, and what is shown of it.
class Driver {
 public:
  Driver(const DriverOptions& options, const Recipe& recipe, const RunPlan& plan)
      : options_(options),
        recipe_(recipe),
        plan_(plan),
        folder_was_there_(fs::exists(plan.run_dir)),
        start_(start_run(plan.run_dir, options.recipe_path, recipe)),
        generation_(start_.generation),
        continue_from_(options.from),
        progress_(progress_options(options, recipe), std::cout),
        shown_(progress_),
        file_(start_.run.store(), record::driver_events_key(start_.run.num_driver_starts() + 1)) {}

  int run() {
    if (!start_.is_new) progress_.say(fmt::format("continuing the run in {}", start_.run.path()));
    RestartPolicy policy(recipe_.failure.max_failures,
                         allowed_worker_counts(recipe_, num_gpus_here(recipe_)));
    const Stopwatch stopwatch;
    while (true) {
      progress_.say(plan_.text());
      launch::LaunchResult result = launch_workers();
      if (refused(result)) {
        complain("error: " + *result.failure->own_error());
        if (start_.is_new) remove_folder();
        return result.exit_code;
      }
      if (result.failure) {
        complain("error: " + result.failure->describe());
        emit("fault", fault(*result.failure));
      }
      if (result.failure && !result.stop_signal && restart(policy, result)) continue;
      end(result, stopwatch.seconds());
      return result.exit_code;
    }
  }

 private:
  // The driver's own events among the workers', for programs that read them live.
  class Shown : public record::LineSink {
   public:
    explicit Shown(launch::Progress& progress) : progress_(progress) {}
    void write(std::string_view line) override { progress_.show(std::string(line)); }

   private:
    launch::Progress& progress_;
  };

  void emit(const std::string& name, const Json& fields) {
    std::vector<record::LineSink*> sinks = {&file_};
    if (options_.json) sinks.push_back(&shown_);
    record::EventWriter(generation_, std::move(sinks)).emit(name, fields);
  }

  launch::LaunchResult launch_workers() {
    launch::LaunchOptions options{.argv = options_.worker_argv,
                                  .run_dir = start_.run.path(),
                                  .generation = generation_,
                                  .continue_from = continue_from_};
    for (int rank = 0; rank < plan_.num_workers; ++rank) {
      options.log_paths.push_back(start_.run.log_path(generation_, rank));
    }
    options.on_event = [this](const std::string& line) {
      note(Json::parse(line, nullptr, /*allow_exceptions=*/false));
      progress_.show(line);
    };
    options.on_notice = [this](const std::string& message) { complain(message); };
    stopped_after_.reset();
    try {
      emit("launched", {{"plan", plan_.to_json()}, {"command", options_.worker_argv}});
      return launch::run_workers(options);
    } catch (...) {
      if (start_.is_new && !step_) remove_folder();
      throw;
    }
  }

  // What the driver itself has to know of a worker's event.
  void note(const Json& event) {
    if (!event.is_object()) return;
    const std::string name = event.value("event", "");
    if (name == "metrics") step_ = event.value("step", int64_t{0});
    if (name == "checkpoint") {
      has_checkpoint_ = true;
      continue_from_.clear();  // from here on the run's own chain goes further than what was asked for
    }
    if (name == "stopped") stopped_after_ = event.value("step", int64_t{0});
  }

  // A recipe, model or data that a worker refused before the first step never made a run.
  bool refused(const launch::LaunchResult& result) const {
    return !step_ && result.failure && result.failure->own_error() &&
           (result.exit_code == static_cast<int>(ExitCode::kUsage) ||
            result.exit_code == static_cast<int>(ExitCode::kData));
  }

  // Waits and readies the next generation; false when there shall be none. A signal that comes
  // meanwhile ends the run as it would have ended the workers.
  bool restart(RestartPolicy& policy, launch::LaunchResult& result) {
    const int room = plan_.use_gpu ? num_gpus_here(recipe_) : plan_.num_workers;
    const auto decision = policy.after_failure(result.exit_code, step_, room);
    if (!decision.restart) {
      if (!decision.reason.empty()) complain(decision.reason);
      return false;
    }
    const double seconds = std::chrono::duration<double>(decision.delay).count();
    complain(fmt::format("starting {} workers again in {:g} s, from {}", decision.num_workers, seconds,
                         continuing_from()));
    plan_ = plan_run_of(recipe_, decision.num_workers, plan_.use_gpu);
    emit("restart", {{"num_workers", decision.num_workers}, {"seconds", seconds}});
    result.stop_signal = launch::wait_for_stop_signal(decision.delay);
    if (result.stop_signal) {
      const bool interrupted = *result.stop_signal == SIGINT;
      result.exit_code = static_cast<int>(interrupted ? ExitCode::kInterrupted : ExitCode::kPreempted);
      return false;
    }
    ++generation_;
    return true;
  }

  // Where the next start of the workers begins, in words.
  std::string continuing_from() const {
    if (!continue_from_.empty()) return continue_from_;
    return has_checkpoint_ || !start_.is_new ? "the newest checkpoint" : "the beginning";
  }

  void end(const launch::LaunchResult& result, double seconds) {
    if (result.stop_signal) complain(fmt::format("stopped by SIG{}", ::sigabbrev_np(*result.stop_signal)));
    emit("ended", {{"exit_code", result.exit_code}, {"seconds", seconds}});
    if (stopped_after_) {
      complain_or_say(
          result.exit_code == 0,
          fmt::format("stopped after step {}; the same command goes on from there", *stopped_after_));
    } else if (result.exit_code == 0) {
      progress_.say(fmt::format("done in {}; the run's record is in {}", launch::duration_text(seconds),
                                start_.run.path()));
    }
  }

  static Json fault(const launch::WorkerFailure& failure) {
    const ExitStatus& status = failure.exit.status;
    Json fields = {{"rank", failure.exit.rank}, {"pid", failure.exit.pid}};
    if (status.signal != 0) fields["signal"] = status.signal;
    if (status.signal == 0) fields["exit_code"] = status.code;
    fields["log"] = failure.log_path;
    fields["log_tail"] = failure.log_tail;
    return fields;
  }

  void complain(const std::string& message) {
    progress_.end_line();
    std::cerr << "lockstep: " << message << std::endl;
  }

  void complain_or_say(bool is_good, const std::string& message) {
    is_good ? progress_.say(message) : complain(message);
  }

  void remove_folder() {
    std::error_code error;  // what cannot be removed stays: the error that brought us here matters more
    if (!folder_was_there_) {
      fs::remove_all(start_.run.path(), error);
      return;
    }
    for (const auto& entry : fs::directory_iterator(start_.run.path(), error))
      fs::remove_all(entry.path(), error);
  }

  const DriverOptions& options_;
  const Recipe& recipe_;
  RunPlan plan_;
  const bool folder_was_there_;
  RunStart start_;
  int generation_;
  std::string continue_from_;
  launch::Progress progress_;
  Shown shown_;
  record::StoreLines file_;
  std::optional<int64_t> step_, stopped_after_;  // the last that was done
  bool has_checkpoint_ = false;
};

}  // namespace

int run_driver(const DriverOptions& options) {
  const Recipe recipe = Recipe::load(options.recipe_path, options.overrides);
  const RunPlan plan = plan_run(recipe, num_gpus_here(recipe));
  if (options.dry_run) return print_plan(options, recipe, plan);
  return Driver(options, recipe, plan).run();
}

}  // namespace lockstep::train
