#include "lockstep/cluster/pod/pod_job.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/pod/put_folder.h"

namespace lockstep::cluster::pod {
namespace {

constexpr std::chrono::seconds kBetweenTries{3};
constexpr std::chrono::minutes kPatience{10};  // without an answer
// A stream is taken up anew after it: kubectl and the API server's proxies do not hold one for days.
constexpr std::chrono::hours kLongestStream{4};

std::string without_prefix(const std::string& line) {
  constexpr std::string_view kPrefix = "lockstep: error: ";
  return line.starts_with(kPrefix) ? line.substr(kPrefix.size()) : line;
}

// What a stream brings that begins with what was had before.
class NewPart {
 public:
  explicit NewPart(size_t had) : to_skip_(had) {}
  std::string_view of(std::string_view text) {
    const size_t skipped = std::min(to_skip_, text.size());
    to_skip_ -= skipped;
    return text.substr(skipped);
  }

 private:
  size_t to_skip_;
};

}  // namespace

std::vector<std::string> PodJobs::argv(const std::vector<std::string>& words) const {
  std::vector<std::string> argv = {"env", "PYTHONPATH=" + package_, "python", "-m", "lockstep_ray.run_here"};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

std::string PodJobs::command_line(const std::vector<std::string>& words) const {
  return head_.command_line(argv(words));
}

void PodJobs::submit(const PodSubmission& submission) {
  const std::string folder = put_folder(head_, submission.id, submission.files);
  std::vector<std::string> words = {"submit", folder + "/" + submission.recipe};
  words.insert(words.end(), submission.words.begin(), submission.words.end());
  for (size_t i = 0; i + 1 < submission.naming.size(); i += 2) {
    words.push_back(submission.naming[i]);
    words.push_back(folder + "/" + submission.naming[i + 1]);
  }
  words.insert(words.end(), {"--submission-id", submission.id, "--no-wait"});
  const auto deadline = surroundings_.now() + kPatience;
  while (true) {
    const Ran ran = head_.run(argv(words), {.timeout = std::chrono::minutes(10)});
    if (ran.is_good()) return;
    if (ran.lost.empty()) throw Refused{ran.exit_code, without_prefix(ran.words())};
    surroundings_.say(
        fmt::format("no answer to the submission ({}): looking whether Ray has the job", ran.lost));
    while (true) {
      surroundings_.pause(kBetweenTries);
      try {
        if (status(submission.id)) return;
        break;  // Ray answers, and does not have it
      } catch (const CommandError& error) {
        if (surroundings_.now() >= deadline)
          throw CommandError(fmt::format("cluster: whether job {} was submitted is not known: {}",
                                         submission.id, error.what()));
      }
    }
  }
}

std::optional<PodJob> PodJobs::status(const std::string& id) {
  const Ran ran = head_.run(argv({"jobs", "status", id, "--json"}));
  const Json json = Json::parse(ran.out, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && json.contains("status")) {
    PodJob job{.status = eks::text_of(json, "status"), .message = eks::text_of(json, "message")};
    if (json.contains("exit_code") && json["exit_code"].is_number())
      job.exit_code = json["exit_code"].get<int>();
    return job;
  }
  if (ran.lost.empty() && ran.exit_code == static_cast<int>(ExitCode::kUsage)) return std::nullopt;
  throw CommandError(ran.words());
}

void PodJobs::stop(const std::string& id) {
  const Ran ran = head_.run(argv({"jobs", "stop", id}));
  if (!ran.is_good()) throw CommandError(fmt::format("cluster: job {} was not stopped: {}", id, ran.words()));
}

PodJob PodJobs::follow(const std::string& id, const std::function<void(std::string_view)>& log) {
  size_t had = 0;  // bytes of the log
  bool is_lost = false;
  auto heard_at = surroundings_.now();
  while (true) {
    NewPart part(had);
    const auto hand_on = [&](std::string_view text) {
      if (is_lost) surroundings_.say("the job's log is here again");
      is_lost = false;
      const std::string_view fresh = part.of(text);
      had += fresh.size();
      if (!fresh.empty()) log(fresh);
    };
    const Ran stream =
        head_.run(argv({"jobs", "logs", id, "-f"}), {.on_out = hand_on, .timeout = kLongestStream});
    std::string trouble = stream.lost;
    try {
      const auto job = status(id);
      if (!job)
        throw ConfigError(
            fmt::format("cluster: Ray knows no job {} any more: its head was made anew. What the "
                        "run had saved is in its folder",
                        id));
      if (job->exit_code) return *job;
      heard_at = surroundings_.now();
      if (trouble.empty()) trouble = "it ended before the job did";
    } catch (const CommandError& error) {
      trouble = error.what();
    }
    if (surroundings_.now() - heard_at > kPatience)
      throw CommandError(fmt::format("cluster: no answer for {} minutes: {}; the job may go on",
                                     kPatience.count(), trouble));
    if (!is_lost)
      surroundings_.say(
          fmt::format("the job's log broke off ({}); the job goes on without us, trying again", trouble));
    is_lost = true;
    surroundings_.pause(kBetweenTries);
  }
}

}  // namespace lockstep::cluster::pod
