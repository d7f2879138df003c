#include "tests/cluster/accept/accept_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/split.h"
#include "lockstep/cluster/eks/up.h"
#include "tests/cluster/eks/fake_words.h"

namespace lockstep::cluster::accept {
namespace {

using eks::has;
using eks::option;
using eks::Words;

constexpr const char* kRecipe = R"(
name: first
model: {source: /fsx/model}
data: {shape: text, sources: [{path: /fsx/text.jsonl}], sequence_length: 64}
train: {epochs: 3, global_batch: 8, micro_batch: 1}
run: {dir: /fsx/runs/first}
)";

// A program in a pod that fails; kubectl says so in its last line.
CommandResult failed(int exit_code, const std::string& err) {
  return {.exit_code = exit_code,
          .err = fmt::format("{}\ncommand terminated with exit code {}\n", err, exit_code)};
}

std::string value_of(const Words& words, const std::string& key) {
  for (const std::string& word : words) {
    if (word.starts_with(key + "=")) return word.substr(key.size() + 1);
  }
  return "";
}

ImageLock lock_of(const std::string& image) {
  return {.image = image,
          .tag = "v1.0",
          .locked = "2026-02-02T02:40:00.000Z",
          .platform = "linux/amd64",
          .manifest = image.substr(image.find("sha256:")),
          .components = {{"ray", "2.58.0"}}};
}

eks::ClusterSettings settings_of_old() {
  return eks::ClusterSettings::parse("image: {reference: \"" + kOld + "\"}\n", "cluster.yaml");
}

const eks::FakeWorld& world_after_up() {
  static const eks::FakeWorld world = [] {
    eks::FakeWorld made;
    eks::Aws aws(made, settings_of_old().region);
    eks::up(eks::look_before(aws, settings_of_old(), "2026-02-02"), made.surroundings());
    made.num_commands = 0;
    made.log.clear();
    made.said.clear();
    return made;
  }();
  return world;
}

}  // namespace

AcceptWorld::AcceptWorld() : cloud(world_after_up()) {
  lock_of(kOld).save(lock_path());
  cloud.kubernetes.in_pod = [this](const Command& command, const std::string& pod) {
    return in_pod(command, pod);
  };
}

Update AcceptWorld::update() const {
  return {.lock_path = lock_path(),
          .before = lock_of(kOld),
          .after = lock_of(kNew),
          .settings = settings_of_old(),
          .measure = {.recipe_path = "recipe.yaml",
                      .recipe = kRecipe,
                      .overrides = {"optimizer.lr=0.001"},
                      .run_dir = "/fsx/runs/first",
                      .id = "accept-1",
                      .package = {.name = "_ray_pkg_1.zip",
                                  .files = {{.name = "bin/lockstep", .text = "the program"}}}},
          .way_back = "lockstep image update LOCK --back"};
}

bool AcceptWorld::runs(const std::string& image) const {
  const auto& pods = cloud.kubernetes.ray_pods;
  return cloud.kubernetes.image == image && pods.size() == 3 &&
         std::all_of(pods.begin(), pods.end(), [&](const auto& pod) { return pod.image == image; });
}

std::vector<std::string> AcceptWorld::running_jobs() const {
  std::vector<std::string> ids;
  for (const auto& [id, job] : jobs_) {
    const auto& pods = cloud.kubernetes.ray_pods;
    const bool has_head =
        std::any_of(pods.begin(), pods.end(), [&](const auto& pod) { return pod.name == job.head; });
    if (has_head && job.status == "RUNNING") ids.push_back(id);
  }
  return ids;
}

std::string AcceptWorld::said() const {
  std::string text;
  for (const std::string& line : cloud.said) text += line + "\n";
  return text;
}

const ImageTraits& AcceptWorld::traits_of(const std::string& pod) const {
  for (const auto& one : cloud.kubernetes.ray_pods) {
    if (one.name == pod) return images.at(one.image);
  }
  throw std::runtime_error("no pod " + pod);
}

std::optional<CommandResult> AcceptWorld::in_pod(const Command& command, const std::string& pod) {
  cloud.kubernetes.efa_per_node = traits_of(pod).efa_per_node;
  const Words words(std::find(command.argv.begin(), command.argv.end(), "--") + 1, command.argv.end());
  if (words[0] == "ray" && words[1] == "list") {
    Json list = Json::array();
    if (!other_job.empty())
      list.push_back({{"submission_id", other_job}, {"status", "RUNNING"}, {"entrypoint", "train"}});
    for (const std::string& id : running_jobs())
      list.push_back({{"submission_id", id}, {"status", "RUNNING"}});
    return CommandResult{.out = list.empty() ? "No resource in the cluster\n" : list.dump()};
  }
  if (words[0] == "python") {  // of put_folder.h
    const std::string folder = pod + " " + words.at(3);
    if (has(words, "put")) folders_.insert(folder);
    return CommandResult{.out = folders_.contains(folder) ? "/tmp/lockstep/" + words.at(3) + "\n" : ""};
  }
  if (words[0] == "env") return run_lockstep({words.begin() + 5, words.end()}, command, pod);
  if (words[0] == "cat") return cat(words.at(2));
  if (words[0] == "rm") {
    runs_there.erase(words.at(3));
    return CommandResult{};
  }
  if (words[0] == "bash" && words.at(2).find("doctor node") != std::string::npos)
    return failed(127, "bash: line 1: exec: lockstep: not found");
  return std::nullopt;
}

CommandResult AcceptWorld::run_lockstep(const Words& words, const Command& command, const std::string& pod) {
  if (words[0] == "submit") return submit(words, pod);
  const auto job = jobs_.find(words.at(2));
  if (job == jobs_.end() || job->second.head != pod) return failed(2, "lockstep: error: ray: no such job");
  if (words[1] == "logs") return log_of(job->second, command);
  if (words[1] == "stop") {
    job->second.status = "STOPPED";
    return {};
  }
  Json json = {{"status", job->second.status}, {"message", ""}, {"exit_code", Json()}};
  if (job->second.status != "RUNNING") json["exit_code"] = job->second.exit_code;
  return {.out = json.dump()};
}

CommandResult AcceptWorld::submit(const Words& words, const std::string& pod) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  submitted.push_back(line);
  const ImageTraits& traits = traits_of(pod);
  const bool is_all_reduce = has(words, "--program");
  const std::string id = option(words, "--submission-id"), run = value_of(words, "run.dir");
  if (jobs_.contains(id)) return failed(2, "lockstep: error: ray: there is such a job");
  jobs_[id] = {.head = pod,
               .run = run,
               .status = "RUNNING",
               .is_all_reduce = is_all_reduce,
               .exit_code = is_all_reduce ? traits.all_reduce_exit_code : traits.training_exit_code};
  runs_there.insert(run);
  return {};
}

CommandResult AcceptWorld::log_of(Job& job, const Command& command) {
  job.status = job.exit_code == 0 ? "SUCCEEDED" : "FAILED";
  if (job.exit_code == 0) return {};
  command.on_out("lockstep: error: rank 3 did not do it\nlast line\n");
  return failed(job.exit_code, "");
}

CommandResult AcceptWorld::cat(const std::string& path) const {
  for (const auto& [id, job] : jobs_) {
    if (!path.starts_with(job.run + "/") || !runs_there.contains(job.run)) continue;
    const ImageTraits& traits = traits_of(job.head);
    if (path.ends_with("/logs/g001-rank-000.log") && job.is_all_reduce) {
      const Json result = {{"size", int64_t{1} << 30}};
      const Json report = {
          {"config", {{"devices", Json::array({"0", "1", "2", "3", "4", "5", "6", "7"})}}},
          {"tests", Json::array({{{"results", Json::array({result})},
                                  {"best_bus_bandwidth", {{"bandwidth", traits.bus_bandwidth}}}}})}};
      return {.out = "NCCL version 2.29.7\n" + report.dump(2) + "\n"};
    }
    if (path.ends_with("/transport/g001-verdict.json"))
      return {.out = Json{{"transport", traits.transport}, {"level", "connected"}}.dump()};
    if (path.ends_with("/metrics/g001.jsonl")) {
      std::string lines;
      for (int step = 1; step <= kSteps; ++step) {
        const double slow_start = step <= kSkippedSteps ? 10 : 1;
        lines += Json{{"step", step},
                      {"loss", 2.5 / step * (step > 10 ? traits.loss_factor : 1)},
                      {"step_ms", traits.step_ms * slow_start},
                      {"tokens_per_s", 65536 / traits.step_ms * 1000}}
                     .dump() +
                 "\n";
      }
      return {.out = lines};
    }
  }
  return failed(1, "cat: " + path + ": No such file or directory");
}

}  // namespace lockstep::cluster::accept
