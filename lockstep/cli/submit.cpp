// lockstep submit RECIPE [key=value...]
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <random>

#include "lockstep/base/build_info.h"
#include "lockstep/base/byte_size.h"
#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/base/recipe.h"
#include "lockstep/cli/attend_job.h"
#include "lockstep/cli/commands.h"
#include "lockstep/cli/ray_options.h"
#include "lockstep/cli/recipe_arguments.h"
#include "lockstep/cluster/image/image_lock.h"
#include "lockstep/cluster/job_environment.h"
#include "lockstep/cluster/job_package.h"
#include "lockstep/cluster/ray_version.h"
#include "lockstep/cluster/shared_paths.h"
#include "lockstep/cluster/worker_room.h"
#include "lockstep/train/run_plan.h"

namespace lockstep::cli {
namespace {

struct SubmitArguments : RecipeArguments {
  std::string address, program, from, package, id, image_lock;
  bool no_wait = false, json = false;
};

void note(const std::string& line) { std::fprintf(stderr, "lockstep: %s\n", line.c_str()); }

// The recipe's files are the cluster's: only its text is read here.
std::string text_of(const std::string& recipe) {
  std::ifstream file(recipe, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || text.empty()) throw ConfigError(fmt::format("{}: no recipe that could be read", recipe));
  return text;
}

cluster::WorkerDemand demand_of(const Recipe& recipe, int num_gpus) {
  const bool use_gpu = recipe.scaling.use_gpu.value_or(num_gpus > 0);
  cluster::WorkerDemand demand;
  demand.num_workers = recipe.scaling.elastic
                           ? recipe.scaling.elastic->first
                           : recipe.scaling.num_workers.value_or(use_gpu ? std::max(1, num_gpus) : 1);
  // As the job's driver reserves them (lockstep_ray/cluster.py).
  demand.each = {{"CPU", 1}};
  if (use_gpu) demand.each["GPU"] = 1;
  for (const auto& [name, amount] : recipe.ray.resources_per_worker.items())
    demand.each[name] = amount.get<double>();
  return demand;
}

// Everything that can be known to be wrong before anything is sent.
void check_cluster(cluster::RayClient& client, const Recipe& recipe) {
  if (const auto warning = cluster::ray_version_warning(client.version())) note("warning: " + *warning);
  const auto nodes = client.nodes();
  const int num_gpus = cluster::num_gpus(nodes);
  cluster::require_room(nodes, demand_of(recipe, num_gpus));
  train::plan_run(recipe, num_gpus, "the cluster");
}

// "<run>-20260102-030405-1f2e": unlike every other, and told apart by people.
std::string new_job_id(const std::string& run) {
  std::string id, time = utc_now().substr(0, 19);
  for (const char c : run) id += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  std::replace(time.begin(), time.end(), 'T', '-');
  return fmt::format("lockstep-{}-{}-{:04x}", id, time, std::random_device()() & 0xffff);
}

cluster::JobPackage package_of(const SubmitArguments& arguments, const std::string& recipe) {
  return cluster::make_job_package({.folder = cluster::find_package_folder(arguments.package),
                                    .recipe = recipe,
                                    .overrides = arguments.overrides,
                                    .from = arguments.from,
                                    .program = arguments.program});
}

void upload(cluster::RayClient& client, const cluster::JobPackage& package) {
  if (client.has_package(package.name)) {
    note(fmt::format("{} is on the cluster already", package.name));
    return;
  }
  const Stopwatch taken;
  const std::string bytes = cluster::package_bytes(package);
  client.upload_package(package.name, bytes);
  note(fmt::format("uploaded {}, {} in {:.1f} s", package.name,
                   format_bytes(static_cast<int64_t>(bytes.size())), taken.seconds()));
}

int submit(const SubmitArguments& arguments) {
  const std::string text = text_of(arguments.path);
  const Recipe recipe = Recipe::parse(text, arguments.path, arguments.overrides);
  cluster::require_absolute_paths(recipe);
  const std::string id = arguments.id.empty() ? new_job_id(recipe.name) : arguments.id;
  cluster::check_job_id(id);
  const Json image_lock =
      arguments.image_lock.empty() ? Json() : cluster::ImageLock::load(arguments.image_lock).to_json();

  cluster::RayClient client = ray_client(arguments.address);
  check_cluster(client, recipe);
  const cluster::JobPackage package = package_of(arguments, text);
  const Json environment = cluster::job_runtime_env(package.name, recipe.ray.runtime_env, image_lock);
  upload(client, package);
  client.submit(
      {.entrypoint = "python -m lockstep_ray job.json",
       .id = id,
       .runtime_env = environment,
       .metadata = {{"job_name", recipe.name}, {"run_dir", recipe.run.dir}, {"lockstep", kVersion}}});
  note(fmt::format("submitted job {} to {}", id, client.address()));

  const int code = arguments.no_wait ? 0 : attend_job(client, id, arguments.json ? std::cerr : std::cout);
  if (arguments.json) {
    Json result = {{"version", 1}, {"address", client.address()}, {"package", package.name}};
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
