// lockstep submit RECIPE [key=value...]
#include <cstdio>
#include <iostream>
#include <memory>

#include "lockstep/cli/attend_job.h"
#include "lockstep/cli/commands.h"
#include "lockstep/cli/ray_options.h"
#include "lockstep/cli/recipe_arguments.h"
#include "lockstep/cli/submission.h"

namespace lockstep::cli {
namespace {

struct SubmitArguments : RecipeArguments {
  std::string address, program, from, package, id, image_lock;
  bool no_wait = false, json = false;
};

void note(const std::string& line) { std::fprintf(stderr, "lockstep: %s\n", line.c_str()); }

int submit(const SubmitArguments& arguments) {
  cluster::RayClient client = ray_client(arguments.address);
  const auto [id, package] = submit_job(client,
                                        {.recipe = arguments.path,
                                         .overrides = arguments.overrides,
                                         .program = arguments.program,
                                         .from = arguments.from,
                                         .package = arguments.package,
                                         .id = arguments.id,
                                         .image_lock = arguments.image_lock},
                                        note);
  const int code = arguments.no_wait ? 0 : attend_job(client, id, arguments.json ? std::cerr : std::cout);
  if (arguments.json) {
    Json result = {{"version", 1}, {"address", client.address()}, {"package", package}};
    result["job"] = client.job(id).to_json();
    std::cout << result.dump(2) << '\n';
  } else if (arguments.no_wait) {
    std::cout << id << '\n';
  }
  return code;
}

}  // namespace

void add_submit(CLI::App& root, Action& action) {
  CLI::App* command = root.add_subcommand("submit", "Train as a recipe says, on a Ray cluster");
  auto arguments = std::make_shared<SubmitArguments>();
  add_recipe_arguments(*command, *arguments);
  add_ray_address(*command, arguments->address);
  command
      ->add_option("--program", arguments->program,
                   "Your own program with a train function, in place of `lockstep train`")
      ->type_name("FILE");
  command
      ->add_option("--from", arguments->from,
                   "Begin from this checkpoint: latest, best (lowest held-out loss), or a run's or "
                   "checkpoint's folder on the shared storage")
      ->type_name("CHECKPOINT");
  command
      ->add_option("--package", arguments->package,
                   "The folder that deploy/package made (default: the one of this build)")
      ->type_name("FOLDER");
  command
      ->add_option("--submission-id", arguments->id,
                   "The job's id (default: from the run's name and the time)")
      ->type_name("ID");
  command
      ->add_option("--image-lock", arguments->image_lock,
                   "The lock of the image that the nodes run (lockstep image lock), for the run's record")
      ->type_name("FILE");
  command->add_flag("--no-wait", arguments->no_wait, "Return once the job is submitted; print its id");
  command->add_flag("--json", arguments->json,
                    "Print one JSON document at the end; the job's log to standard error");
  command->footer(
      "Checks the cluster, uploads recipe and program, submits a job and prints its log to the end; its "
      "exit\n"
      "code is the job's. Ctrl-C leaves the job running and says how to return; a second one stops it, with "
      "a\n"
      "checkpoint. Where the cluster asks for a token: RAY_AUTH_MODE=token and RAY_AUTH_TOKEN.\n\n"
      "Examples:\n"
      "  lockstep submit recipe.yaml run.dir=/fsx/runs/first --ray-address http://head:8265\n"
      "  lockstep submit recipe.yaml scaling.num_workers=8 --no-wait\n"
      "  lockstep submit recipe.yaml --program build/my_train");
  command->callback([=, &action] { action = [=] { return submit(*arguments); }; });
}

}  // namespace lockstep::cli
