#include "lockstep/train/torch_trainer.h"

#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/launch/local_launcher.h"
#include "lockstep/launch/report_errors.h"
#include "lockstep/launch/worker_env.h"
#include "lockstep/train/driver.h"

namespace lockstep::train {
namespace {

constexpr const char* kUsage =
    "usage: PROGRAM RECIPE.yaml [key=value ...] [--from CHECKPOINT] [--json] [--quiet] [--dry-run]";

DriverOptions parse(const std::vector<std::string>& arguments) {
  DriverOptions options;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--quiet") {
      options.quiet = true;
    } else if (argument == "--from" && i + 1 < arguments.size()) {
      options.from = arguments[++i];
    } else if (argument == "--dry-run") {
      options.dry_run = true;
    } else if (argument.starts_with("-")) {
      throw ConfigError("unknown option " + argument + "; " + kUsage);
    } else if (options.recipe_path.empty()) {
      options.recipe_path = argument;
    } else {
      options.overrides.push_back(argument);
    }
  }
  if (options.recipe_path.empty()) throw ConfigError(std::string("no recipe; ") + kUsage);
  options.worker_argv = arguments;
  options.worker_argv[0] = launch::own_executable();
  return options;
}

}  // namespace

int TorchTrainer::main(int argc, char** argv) {
  return launch::report_errors([&] {
    const std::vector<std::string> arguments(argv, argv + argc);
    const DriverOptions options = parse(arguments);
    const auto env = launch::WorkerEnv::from_environment();
    if (!env) return run_driver(options);
    return run_worker(*env, options.recipe_path, options.overrides, arguments, train_func_);
  });
}

}  // namespace lockstep::train
