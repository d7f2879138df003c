#include "lockstep/cli/train_on_ray.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/bench/step_times.h"
#include "lockstep/cli/submission.h"
#include "lockstep/cluster/job_follower.h"
#include "lockstep/cluster/job_words.h"
#include "lockstep/launch/stop_signals.h"

namespace lockstep::cli {
namespace {

using bench::NetworkChoice;

void say(const std::string& line) { std::fprintf(stderr, "lockstep: %s\n", line.c_str()); }

// The recipe's own, with the network's variables over its env_vars.
std::string runtime_env_with(const Recipe& recipe, const NetworkChoice& network) {
  Json environment = recipe.ray.runtime_env.is_null() ? Json::object() : recipe.ray.runtime_env;
  for (const auto& [name, value] : network.environment) {
    LOCKSTEP_CHECK(value) << name << " would have to be unset on the nodes";
    environment["env_vars"][name] = *value;
  }
  return "ray.runtime_env=" + environment.dump();
}

class RayRuns {
 public:
  RayRuns(std::shared_ptr<cluster::RayClient> client, RecipeArguments recipe, std::string package,
          int64_t steps)
      : client_(std::move(client)), recipe_(std::move(recipe)), package_(std::move(package)), steps_(steps) {}

  std::vector<double> run(const NetworkChoice& network) {
    const Recipe recipe = recipe_for_cluster(recipe_.path, recipe_.overrides);
    const std::filesystem::path runs = recipe.run.dir;
    const std::string folder = runs / fmt::format("{}-{}", network.name, ++num_runs_[network.name]);
    Submission submission{.recipe = recipe_.path, .overrides = recipe_.overrides, .package = package_};
    for (const std::string& change :
         {fmt::format("train.steps={}", steps_), "run.dir=" + folder, runtime_env_with(recipe, network)})
      submission.overrides.push_back(change);
    train(submission, network);

    if (!std::filesystem::exists(folder)) {
      throw ConfigError(fmt::format(
          "bench: the job trained in {}, which is not seen from here: start this where the cluster's shared "
          "storage is mounted, such as on its head",
          folder));
    }
    std::vector<double> step_ms = bench::step_times_of(folder);
    std::filesystem::remove_all(folder);
    std::error_code not_empty;  // then it holds something else, and stays
    std::filesystem::remove(runs, not_empty);
    return step_ms;
  }

 private:
  void train(const Submission& submission, const NetworkChoice& network) {
    const std::string id = submit_job(*client_, submission, [](const std::string&) {}).id;
    std::string log;
    cluster::JobFollowing following;
    following.log = [&](std::string_view lines) { log += lines; };
    following.note = say;
    following.pause = [](std::chrono::milliseconds time) {
      return launch::wait_for_stop_signal(time).has_value();
    };
    const auto job = cluster::follow_job(*client_, id, following);
    if (!job) {
      client_->stop(id);
      throw InterruptedError(fmt::format("bench: interrupted; job {} is being stopped", id));
    }
    if (job->exit_code() != 0)
      throw CommandError(fmt::format("bench: training over {} ({}), job {}, is {}: {}", network.name,
                                     network.words(), id, job->outcome(), cluster::last_words(log)));
  }

  std::shared_ptr<cluster::RayClient> client_;
  const RecipeArguments recipe_;
  const std::string package_;
  const int64_t steps_;
  std::map<std::string, int> num_runs_;  // by network
};

}  // namespace

bench::TrainRun train_on_ray(std::shared_ptr<cluster::RayClient> client, const RecipeArguments& recipe,
                             const std::string& package, int64_t steps) {
  const auto runs = std::make_shared<RayRuns>(std::move(client), recipe, package, steps);
  return [runs](const NetworkChoice& network) { return runs->run(network); };
}

}  // namespace lockstep::cli
