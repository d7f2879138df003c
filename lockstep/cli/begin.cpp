// lockstep begin RECIPE [key=value...]: for launchers that start the workers themselves
#include <iostream>
#include <memory>
#include <optional>

#include "lockstep/cli/commands.h"
#include "lockstep/cli/recipe_arguments.h"
#include "lockstep/record/run_directory.h"
#include "lockstep/train/run_plan.h"
#include "lockstep/train/run_start.h"

namespace lockstep::cli {
namespace {

struct BeginArguments : RecipeArguments {
  std::optional<int> num_gpus;
  bool dry_run = false, next = false;
};

Json run_json(const record::RunDirectory& run, int generation, bool is_new) {
  return {{"path", run.path()},
          {"generation", generation},
          {"is_new", is_new},
          {"driver_events", run.path() + "/" + record::driver_events_key(run.num_driver_starts() + 1)}};
}

int begin(const BeginArguments& arguments) {
  const Recipe recipe = Recipe::load(arguments.path, arguments.overrides);
  const std::string place = arguments.num_gpus ? "the cluster" : "this machine";
  const int num_gpus = arguments.num_gpus ? *arguments.num_gpus : train::num_gpus_here(recipe);
  const train::RunPlan plan = train::plan_run(recipe, num_gpus, place);
  Json result = {{"version", 1}, {"recipe", recipe.effective()}, {"plan", plan.to_json()}};
  result["plan"]["worker_counts"] = train::allowed_worker_counts(recipe, num_gpus, place);
  if (arguments.next) {
    const auto run = record::RunDirectory::open(plan.run_dir);
    result["run"] = run_json(run, train::next_generation(run, recipe), /*is_new=*/false);
  } else if (!arguments.dry_run) {
    const train::RunStart start = train::start_run(plan.run_dir, arguments.path, recipe);
    result["run"] = run_json(start.run, start.generation, start.is_new);
  }
  std::cout << result.dump() << '\n';
  return 0;
}

}  // namespace

void add_begin(CLI::App& root, Action& action) {
  CLI::App* command = root.add_subcommand(
      "begin", "Make or open a run's folder, for a launcher that starts the workers itself");
  auto arguments = std::make_shared<BeginArguments>();
  add_recipe_arguments(*command, *arguments);
  command
      ->add_option("--num-gpus", arguments->num_gpus,
                   "GPUs that there are, on all machines (default: those of this one)")
      ->check(CLI::NonNegativeNumber);
  CLI::Option* dry_run =
      command->add_flag("--dry-run", arguments->dry_run, "Print recipe and plan alone; make nothing");
  command
      ->add_flag("--next", arguments->next,
                 "For the next start of the workers of a run that this launcher has begun")
      ->excludes(dry_run);
  command->footer(
      "Prints one JSON object: the effective recipe, the plan with the numbers of workers that it allows, "
      "and\n"
      "the run's folder with the generation that the workers are to be given. `lockstep train` does all "
      "this\n"
      "by itself; fields and protocol: docs/worker_protocol.md.\n\n"
      "Example:\n"
      "  lockstep begin examples/tiny.yaml --dry-run");
  command->callback([=, &action] { action = [=] { return begin(*arguments); }; });
}

}  // namespace lockstep::cli
