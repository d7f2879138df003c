// lockstep cluster submit RECIPE [key=value...]
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "lockstep/base/error.h"
#include "lockstep/cli/cluster.h"
#include "lockstep/cli/recipe_arguments.h"
#include "lockstep/cli/submission.h"
#include "lockstep/cluster/image/image_lock.h"
#include "lockstep/cluster/job_package.h"
#include "lockstep/cluster/pod/placement.h"
#include "lockstep/cluster/pod/pod_job.h"
#include "lockstep/cluster/pod/put_folder.h"
#include "lockstep/cluster/ray_client.h"
#include "lockstep/cluster/shared_paths.h"

namespace lockstep::cli {
namespace {

using cluster::pod::PodJob;
using cluster::pod::PodJobs;

struct ClusterSubmitArguments : RecipeArguments {
  std::string cluster = "cluster.yaml", program, from, package, id, image_lock, attach;
  bool no_wait = false;
};

void say(const std::string& line) { std::fprintf(stderr, "lockstep: %s\n", line.c_str()); }

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Everything that can be wrong with it here is, before anything is asked of the cluster.
cluster::pod::PodSubmission submission_of(const ClusterSubmitArguments& arguments) {
  const Recipe recipe = recipe_for_cluster(arguments.path, arguments.overrides);
  cluster::require_absolute_paths(recipe);
  cluster::pod::PodSubmission submission{.id = arguments.id.empty() ? new_job_id(recipe.name) : arguments.id,
                                         .files = {{.name = "recipe.yaml", .text = text_of(arguments.path)}},
                                         .recipe = "recipe.yaml",
                                         .words = arguments.overrides};
  cluster::check_job_id(submission.id);
  if (!arguments.from.empty()) submission.words.insert(submission.words.end(), {"--from", arguments.from});
  if (!arguments.image_lock.empty()) {
    cluster::ImageLock::load(arguments.image_lock);
    submission.files.push_back({.name = "image.lock.yaml", .text = text_of(arguments.image_lock)});
    submission.naming.insert(submission.naming.end(), {"--image-lock", "image.lock.yaml"});
  }
  if (!arguments.program.empty()) {
    const std::string name = arguments.program.substr(arguments.program.rfind('/') + 1);
    submission.files.push_back({.name = name, .path = arguments.program, .is_executable = true});
    submission.naming.insert(submission.naming.end(), {"--program", name});
  }
  return submission;
}

// What is the same for every job of this build: the recipe comes in a folder of its own.
cluster::JobPackage package_of(const ClusterSubmitArguments& arguments) {
  return cluster::make_job_package({.folder = cluster::find_package_folder(arguments.package)});
}

int exit_code_of(const std::string& id, const PodJob& job) {
  if (job.exit_code == 0) return 0;
  const int code = job.exit_code.value();
  const bool is_refused = code == static_cast<int>(ExitCode::kTransport);
  say(fmt::format("job {}: {} with exit code {}{}{}", id, job.status, code,
                  is_refused ? ": the network was refused, so nothing was trained; the lines above say which "
                               "ranks and why"
                             : "",
                  job.message.empty() ? "" : ": " + job.message));
  return code;
}

int follow(PodJobs& jobs, const std::string& id, const std::string& cluster_file) {
  try {
    return exit_code_of(id, jobs.follow(id, [](std::string_view text) { std::cout << text << std::flush; }));
  } catch (const InterruptedError&) {
    say(
        fmt::format("left job {} alone, which goes on: `lockstep cluster submit RECIPE --cluster {} --attach "
                    "{}` returns to it; {} stops it",
                    id, cluster_file, id, jobs.command_line({"jobs", "stop", id})));
    throw;
  }
}

int submit(const ClusterSubmitArguments& arguments) {
  const auto submission = submission_of(arguments);
  const auto package = package_of(arguments);

  ClusterAccess access({.path = arguments.cluster});
  const auto& deployment = access.deployment();
  const auto& settings = deployment.settings;
  cluster::pod::HeadPod head(access.kubernetes(), deployment);
  if (arguments.attach.empty()) {
    cluster::eks::Aws aws(access.surroundings().runner, settings.region);
    cluster::pod::require_placement(access.kubernetes(), aws, deployment);
    say(fmt::format("{} GPUs in {} pods; bringing {} into Ray's head",
                    settings.gpu_nodes.count * deployment.gpu_type().gpus, settings.gpu_nodes.count,
                    package.name));
  }
  const std::string folder_name = package.name.substr(0, package.name.rfind('.'));  // it is a zip's
  PodJobs jobs(head, cluster::pod::put_folder(head, folder_name, package.files), access.surroundings());
  if (!arguments.attach.empty()) return follow(jobs, arguments.attach, arguments.cluster);
  try {
    jobs.submit(submission);
  } catch (const cluster::pod::Refused& refused) {
    std::fprintf(stderr, "lockstep: error: %s\n", refused.words.c_str());
    return refused.exit_code;
  }
  say(fmt::format("submitted job {}", submission.id));
  if (arguments.no_wait) {
    std::cout << submission.id << '\n';
    return 0;
  }
  return follow(jobs, submission.id, arguments.cluster);
}

}  // namespace

void add_cluster_submit(CLI::App& cluster, Action& action) {
  CLI::App* command = cluster.add_subcommand("submit", "Train as a recipe says, on the cluster");
  auto arguments = std::make_shared<ClusterSubmitArguments>();
  add_recipe_arguments(*command, *arguments);
  command->add_option("--cluster", arguments->cluster, "The cluster's settings (default: cluster.yaml)")
      ->type_name("FILE");
  command->add_option("--program", arguments->program, "As of `lockstep submit`")->type_name("FILE");
  command->add_option("--from", arguments->from, "As of `lockstep submit`")->type_name("CHECKPOINT");
  command->add_option("--package", arguments->package, "As of `lockstep submit`")->type_name("FOLDER");
  command->add_option("--submission-id", arguments->id, "As of `lockstep submit`")->type_name("ID");
  command->add_option("--image-lock", arguments->image_lock, "As of `lockstep submit`")->type_name("FILE");
  command->add_flag("--no-wait", arguments->no_wait, "Return once the job is submitted; print its id");
  command
      ->add_option("--attach", arguments->attach,
                   "Submit nothing: return to this job, which was submitted before")
      ->type_name("ID");
  command->footer(
      "Looks at the cluster first: GPU nodes in one zone and VPC, Ray's GPUs as many as Kubernetes gave. "
      "Then "
      "works from\ninside Ray's head, by kubectl exec: nothing of Ray's has to be reachable from here. "
      "Prints "
      "the job's log to the end; the\nexit code is the job's. Ctrl-C leaves the job running and says how to "
      "return.\n\n"
      "Example:\n"
      "  lockstep cluster submit recipe.yaml run.dir=/fsx/runs/first --cluster cluster.yaml");
  command->callback([=, &action] { action = [=] { return submit(*arguments); }; });
}

}  // namespace lockstep::cli
