#include "lockstep/train/driver.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <iostream>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/cuda_library.h"
#include "lockstep/launch/event_text.h"
#include "lockstep/launch/local_launcher.h"
#include "lockstep/launch/progress.h"
#include "lockstep/record/event_sink.h"
#include "lockstep/record/run_directory.h"
#include "lockstep/train/new_run.h"
#include "lockstep/train/recipe_text.h"
#include "lockstep/train/run_plan.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

constexpr int kGeneration = 1;  // until a run can be continued, the workers start once

// None are looked for when the recipe wants none.
int num_gpus(const Recipe& recipe) {
  return recipe.scaling.use_gpu == false ? 0 : comm::driver_device_count();
}

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
      : plan_(plan),
        folder_was_there_(fs::exists(plan.run_dir)),
        run_(make_run(plan.run_dir, options.recipe_path)),
        progress_(progress_options(options, recipe), std::cout),
        shown_(progress_),
        file_(run_.store(), record::driver_events_key(kGeneration)),
        events_(kGeneration, options.json ? std::vector<record::LineSink*>{&file_, &shown_}
                                          : std::vector<record::LineSink*>{&file_}) {}

  int run(const std::vector<std::string>& worker_argv) {
    progress_.say(plan_.text());
    const Stopwatch stopwatch;
    const launch::LaunchResult result = launch_workers(worker_argv);
    end(result, stopwatch.seconds());
    return result.exit_code;
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

  launch::LaunchResult launch_workers(const std::vector<std::string>& argv) {
    launch::LaunchOptions options{.argv = argv, .run_dir = run_.path(), .generation = kGeneration};
    for (int rank = 0; rank < plan_.num_workers; ++rank) {
      options.log_paths.push_back(run_.log_path(kGeneration, rank));
    }
    options.on_event = [this](const std::string& line) {
      const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      trained_ = trained_ || (event.is_object() && event.value("event", "") == "metrics");
      progress_.show(line);
    };
    options.on_notice = [this](const std::string& message) { complain(message); };
    try {
      events_.emit("launched", {{"plan", plan_.to_json()}, {"command", argv}});
      return launch::run_workers(options);
    } catch (...) {
      if (!trained_) remove_folder();
      throw;
    }
  }

  void end(const launch::LaunchResult& result, double seconds) {
    // A recipe, model or data that a worker refused before the first step never made a run.
    const bool refused = !trained_ && result.failure && result.failure->own_error() &&
                         (result.exit_code == static_cast<int>(ExitCode::kUsage) ||
                          result.exit_code == static_cast<int>(ExitCode::kData));
    if (refused) {
      complain("error: " + *result.failure->own_error());
      return remove_folder();
    }
    if (result.failure) {
      complain("error: " + result.failure->describe());
      events_.emit("fault", fault(*result.failure));
    }
    if (result.stop_signal) complain(fmt::format("stopped by SIG{}", ::sigabbrev_np(*result.stop_signal)));
    events_.emit("ended", {{"exit_code", result.exit_code}, {"seconds", seconds}});
    if (result.exit_code == 0) {
      progress_.say(
          fmt::format("done in {}; the run's record is in {}", launch::duration_text(seconds), run_.path()));
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

  void remove_folder() {
    std::error_code error;  // what cannot be removed stays: the error that brought us here matters more
    if (!folder_was_there_) {
      fs::remove_all(run_.path(), error);
      return;
    }
    for (const auto& entry : fs::directory_iterator(run_.path(), error)) fs::remove_all(entry.path(), error);
  }

  const RunPlan& plan_;
  const bool folder_was_there_;
  record::RunDirectory run_;
  launch::Progress progress_;
  Shown shown_;
  record::StoreLines file_;
  record::EventWriter events_;
  bool trained_ = false;  // a step was done
};

}  // namespace

int run_driver(const DriverOptions& options) {
  const Recipe recipe = Recipe::load(options.recipe_path, options.overrides);
  const RunPlan plan = plan_run(recipe, num_gpus(recipe));
  if (options.dry_run) return print_plan(options, recipe, plan);
  return Driver(options, recipe, plan).run(options.worker_argv);
}

}  // namespace lockstep::train
