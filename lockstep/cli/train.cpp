// lockstep train RECIPE [key=value...]
#include <memory>

#include "lockstep/cli/commands.h"
#include "lockstep/cli/recipe_arguments.h"
#include "lockstep/launch/local_launcher.h"
#include "lockstep/launch/worker_env.h"
#include "lockstep/train/driver.h"
#include "lockstep/train/fine_tune.h"
#include "lockstep/train/worker.h"

namespace lockstep::cli {
namespace {

// The same command line is the driver's and its workers'; the environment tells them apart.
int train_in_role(train::DriverOptions options) {
  std::vector<std::string> command = {launch::own_executable(), "train", options.recipe_path};
  command.insert(command.end(), options.overrides.begin(), options.overrides.end());
  if (auto env = launch::WorkerEnv::from_environment()) {
    if (env->continue_from.empty()) env->continue_from = options.from;  // started by torchrun with --from
    return train::run_worker(*env, options.recipe_path, options.overrides, command, train::fine_tune);
  }
  options.worker_argv = std::move(command);
  return train::run_driver(options);
}

}  // namespace

void add_train(CLI::App& root, Action& action) {
  CLI::App* command = root.add_subcommand("train", "Train as a recipe says, on this machine's GPUs or cores");
  auto arguments = std::make_shared<RecipeArguments>();
  auto options = std::make_shared<train::DriverOptions>();
  add_recipe_arguments(*command, *arguments);
  command->add_flag("--dry-run", options->dry_run, "Print the plan and the effective recipe; start nothing");
  command
      ->add_option("--from", options->from,
                   "Begin from this checkpoint: latest, best (lowest held-out loss), or a run's or "
                   "checkpoint's folder")
      ->type_name("CHECKPOINT");
  CLI::Option* quiet = command->add_flag("--quiet", options->quiet, "Print nothing but warnings and errors");
  command->add_flag("--json", options->json, "Print metrics and events as JSON lines instead of progress")
      ->excludes(quiet);
  command->footer(
      "Starts scaling.num_workers workers (by default one for each GPU, else one), watches them and leaves\n"
      "the record in run.dir (by default runs/NAME). Ctrl-C stops them cleanly, with a checkpoint; a second\n"
      "one kills them. The same command again continues the run from its newest whole checkpoint.\n\n"
      "Examples:\n"
      "  lockstep train examples/tiny.yaml\n"
      "  lockstep train recipe.yaml name=lower optimizer.lr=3e-6 train.steps=50\n"
      "  lockstep train recipe.yaml train.stop_after=100    a hundred steps, a checkpoint, and the end for "
      "now\n"
      "  torchrun --no-python --nproc-per-node 4 lockstep train recipe.yaml    started by torchrun");
  command->callback([=, &action] {
    options->recipe_path = arguments->path;
    options->overrides = arguments->overrides;
    action = [=] { return train_in_role(*options); };
  });
}

}  // namespace lockstep::cli
