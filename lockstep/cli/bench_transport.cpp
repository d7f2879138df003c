// lockstep bench transport RECIPE [key=value...]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/bench/compare_networks.h"
#include "lockstep/cli/commands.h"
#include "lockstep/cli/ray_options.h"
#include "lockstep/cli/recipe_arguments.h"
#include "lockstep/cli/train_on_ray.h"

namespace lockstep::cli {
namespace {

struct TransportArguments {
  RecipeArguments recipe;
  std::string compare;
  std::vector<std::string> settings;
  bench::CompareOptions options;
  std::string ray_address, package;  // empty: the workers run on this machine
  bool json = false;
};

bench::TrainRun training_of(const TransportArguments& arguments) {
  const RecipeArguments& recipe = arguments.recipe;
  if (arguments.ray_address.empty())
    return bench::train_with(recipe.path, recipe.overrides, arguments.options.steps);
  return train_on_ray(std::make_shared<cluster::RayClient>(ray_client(arguments.ray_address)), recipe,
                      arguments.package, arguments.options.steps);
}

int compare_transports(TransportArguments arguments) {
  bench::CompareOptions& options = arguments.options;
  options.networks = bench::parse_networks(arguments.compare, arguments.settings);
  options.validate();
  const auto times = bench::compare_networks(options, training_of(arguments), [&](int round) {
    if (!arguments.json)
      std::cerr << fmt::format("round {} of {} is done", round, options.rounds) << std::endl;
  });
  std::cout << (arguments.json ? comparison_json(options, times).dump(2) : comparison_text(options, times))
            << std::endl;
  return 0;
}

}  // namespace

void add_bench_transport(CLI::App& bench, Action& action) {
  CLI::App* command =
      bench.add_subcommand("transport", "Train the same steps over several networks, in turn");
  auto arguments = std::make_shared<TransportArguments>();
  add_recipe_arguments(*command, arguments->recipe);
  command
      ->add_option("--compare", arguments->compare, "The networks: efa, ib, tcp, asis or names with a --set")
      ->required()
      ->type_name("A,B");
  command
      ->add_option("--set", arguments->settings,
                   "A variable of a network's environment; may be given several times")
      ->type_name("NAME:VARIABLE=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--rounds", arguments->options.rounds, "Runs over each network [5]")->type_name("N");
  command->add_option("--steps", arguments->options.steps, "Steps of a run [12]")->type_name("N");
  command->add_option("--skip", arguments->options.skip, "First steps that are not counted [3]")
      ->type_name("N");
  CLI::Option* address =
      command
          ->add_option(
              "--ray-address", arguments->ray_address,
              "Train on this Ray cluster, a job a run; run.dir is on its shared storage, seen from here")
          ->type_name("URL");
  command
      ->add_option("--package", arguments->package,
                   "The folder that deploy/package made (default: the one of this build)")
      ->type_name("FOLDER")
      ->needs(address);
  command->add_flag("--json", arguments->json, "Print one JSON document instead of the table");
  command->footer(
      "Each run is a `lockstep train` of the recipe, or with --ray-address a job as of `lockstep submit`, in "
      "a\n"
      "folder of its own, which is removed. The ratio is that of the step times of a round, with its median\n"
      "and its spread over the rounds.\n\n"
      "Examples:\n"
      "  lockstep bench transport recipe.yaml --compare efa,tcp\n"
      "  lockstep bench transport recipe.yaml run.dir=/fsx/bench --compare efa,tcp --ray-address "
      "http://head:8265\n"
      "  lockstep bench transport examples/tiny.yaml --compare lo,eth --set lo:GLOO_SOCKET_IFNAME=lo --set "
      "eth:GLOO_SOCKET_IFNAME=eth0");
  command->callback([=, &action] { action = [=] { return compare_transports(*arguments); }; });
}

}  // namespace lockstep::cli
