#include "lockstep/cli/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <random>

#include "lockstep/base/build_info.h"
#include "lockstep/base/byte_size.h"
#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/cluster/image/image_lock.h"
#include "lockstep/cluster/job_environment.h"
#include "lockstep/cluster/job_package.h"
#include "lockstep/cluster/ray_version.h"
#include "lockstep/cluster/shared_paths.h"
#include "lockstep/cluster/worker_room.h"
#include "lockstep/train/run_plan.h"

namespace lockstep::cli {
namespace {

using Note = std::function<void(const std::string&)>;

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
void check_cluster(cluster::RayClient& client, const Recipe& recipe, const Note& note) {
  if (const auto warning = cluster::ray_version_warning(client.version())) note("warning: " + *warning);
  const auto nodes = client.nodes();
  const int num_gpus = cluster::num_gpus(nodes);
  cluster::require_room(nodes, demand_of(recipe, num_gpus));
  train::plan_run(recipe, num_gpus, "the cluster");
}

cluster::JobPackage package_of(const Submission& submission) {
  return cluster::make_job_package({.folder = cluster::find_package_folder(submission.package),
                                    .recipe = text_of(submission.recipe),
                                    .overrides = submission.overrides,
                                    .from = submission.from,
                                    .program = submission.program});
}

void upload(cluster::RayClient& client, const cluster::JobPackage& package, const Note& note) {
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

}  // namespace

Recipe recipe_for_cluster(const std::string& path, const std::vector<std::string>& overrides) {
  return Recipe::parse(text_of(path), path, overrides);
}

std::string new_job_id(const std::string& run) {
  std::string id, time = utc_now().substr(0, 19);
  for (const char c : run) id += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  std::replace(time.begin(), time.end(), 'T', '-');
  return fmt::format("lockstep-{}-{}-{:04x}", id, time, std::random_device()() & 0xffff);
}

SubmittedJob submit_job(cluster::RayClient& client, const Submission& submission, const Note& note) {
  const Recipe recipe = recipe_for_cluster(submission.recipe, submission.overrides);
  cluster::require_absolute_paths(recipe);
  const std::string id = submission.id.empty() ? new_job_id(recipe.name) : submission.id;
  cluster::check_job_id(id);
  const Json image_lock =
      submission.image_lock.empty() ? Json() : cluster::ImageLock::load(submission.image_lock).to_json();

  check_cluster(client, recipe, note);
  const cluster::JobPackage package = package_of(submission);
  const Json environment = cluster::job_runtime_env(package.name, recipe.ray.runtime_env, image_lock);
  upload(client, package, note);
  client.submit(
      {.entrypoint = "python -m lockstep_ray job.json",
       .id = id,
       .runtime_env = environment,
       .metadata = {{"job_name", recipe.name}, {"run_dir", recipe.run.dir}, {"lockstep", kVersion}}});
  note(fmt::format("submitted job {} to {}", id, client.address()));
  return {id, package.name};
}

}  // namespace lockstep::cli
