#include "lockstep/cluster/accept/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/cluster/accept/run_figures.h"
#include "lockstep/cluster/doctor/diagnose.h"
#include "lockstep/cluster/job_words.h"
#include "lockstep/cluster/pod/placement.h"
#include "lockstep/cluster/pod/pod_job.h"
#include "lockstep/cluster/pod/put_folder.h"

namespace lockstep::cluster::accept {
namespace {

constexpr const char* kAllReduce = "all-reduce";
constexpr const char* kTraining = "training";
constexpr size_t kLongestLog = 256 << 10;  // of a job's, whose end is looked at
constexpr int kTries = 5;
constexpr std::chrono::seconds kBetweenTries{3};

std::string run_of(const MeasureOptions& options, const std::string& side, const std::string& part) {
  return fmt::format("{}-{}-{}-{}", options.run_dir, options.id, side, part);
}

std::vector<std::string> keys_of(const MeasureOptions& options, const eks::ClusterSettings& settings,
                                 const std::string& run) {
  std::vector<std::string> keys = options.overrides;
  keys.insert(keys.end(),
              {"run.dir=" + run, "train.epochs=", "train.stop_after=", fmt::format("train.steps={}", kSteps),
               "data.held_out=", "evaluation.interval_steps=", "evaluation.prompts=",
               "evaluation.max_new_tokens=", "checkpoint.interval_steps=", "checkpoint.keep_every=",
               "checkpoint.keep_best=", "checkpoint.storage=", "failure.max_failures=0"});
  if (settings.uses_efa()) keys.emplace_back("network.require=efa");
  return keys;
}

DoctorSummary summary_of(const std::vector<doctor::Finding>& findings) {
  DoctorSummary summary;
  for (const doctor::Finding& finding : findings) {
    if (finding.state == doctor::FindingState::kGood) ++summary.ok;
    if (finding.state == doctor::FindingState::kFault) summary.faults.push_back(finding.id);
    if (finding.state == doctor::FindingState::kUnknown) summary.unknown.push_back(finding.id);
  }
  return summary;
}

struct JobEnd {
  int exit_code = 0;
  std::string words;  // its last ones, where it failed
};

class Measurer {
 public:
  Measurer(eks::Kubernetes& kubernetes, const eks::Deployment& deployment, const ImageLock& lock,
           const std::string& side, const MeasureOptions& options, const eks::Surroundings& surroundings)
      : kubernetes_(kubernetes),
        deployment_(deployment),
        settings_(deployment.settings),
        lock_(lock),
        side_(side),
        options_(options),
        surroundings_(surroundings),
        head_(kubernetes, deployment) {}

  Measured measure() {
    measured_.figures.image = lock_.image;
    measured_.figures.measured = format_utc(surroundings_.now());
    say("cluster doctor");
    measured_.figures.doctor =
        summary_of(doctor::diagnose(doctor::observe(surroundings_, settings_, /*run_folder=*/"")));
    eks::Aws aws(surroundings_.runner, settings_.region);
    pod::require_placement(kubernetes_, aws, deployment_);
    const std::string package = options_.package.name.substr(0, options_.package.name.rfind('.'));
    pod::PodJobs jobs(head_, pod::put_folder(head_, package, options_.package.files), surroundings_);
    all_reduce(jobs);
    train(jobs);
    return std::move(measured_);
  }

 private:
  void say(const std::string& what) const { surroundings_.say(fmt::format("{}: {}", lock_.image, what)); }

  pod::PodSubmission submission(const std::string& part, std::vector<std::string> keys) const {
    return {.id = fmt::format("{}-{}-{}", options_.id, side_, part),
            .files = {{.name = "recipe.yaml", .text = options_.recipe},
                      {.name = "image.lock.yaml", .text = lock_.to_json().dump()}},
            .recipe = "recipe.yaml",
            .words = std::move(keys),
            .naming = {"--image-lock", "image.lock.yaml"}};
  }

  void all_reduce(pod::PodJobs& jobs) {
    pod::PodSubmission job = submission(kAllReduce, all_reduce_keys(options_, settings_, side_));
    job.files.push_back({.name = "all_reduce", .text = all_reduce_program(options_), .is_executable = true});
    job.naming.insert(job.naming.end(), {"--program", "all_reduce"});
    say(fmt::format("all-reduce, job {}", job.id));
    const JobEnd end = run(jobs, job);
    if (end.exit_code != 0) {
      measured_.no_all_reduce = words_of(end, job.id);
      return;
    }
    const std::string run = run_of(options_, side_, kAllReduce);
    read_all_reduce(text_in(run + "/logs/g001-rank-000.log"), measured_.figures);
    remove(run);
  }

  void train(pod::PodJobs& jobs) {
    const pod::PodSubmission job = submission(kTraining, training_keys(options_, settings_, side_));
    say(fmt::format("{} training steps, job {}", kSteps, job.id));
    const JobEnd end = run(jobs, job);
    if (end.exit_code != 0) {
      measured_.no_training = words_of(end, job.id);
      measured_.is_network_refused = end.exit_code == static_cast<int>(ExitCode::kTransport);
      return;
    }
    const std::string run = run_of(options_, side_, kTraining);
    read_verdict(text_in(run + "/transport/g001-verdict.json"), measured_.figures);
    read_steps(text_in(run + "/metrics/g001.jsonl"), kSteps, kSkippedSteps, measured_.figures);
    remove(run);
  }

  static std::string words_of(const JobEnd& end, const std::string& id) {
    return fmt::format("job {} ended with exit code {}: {}", id, end.exit_code, end.words);
  }

  JobEnd run(pod::PodJobs& jobs, const pod::PodSubmission& submission) const {
    std::string log;
    const auto hear = [&](std::string_view text) {
      log += text;
      if (log.size() > 2 * kLongestLog) log.erase(0, log.size() - kLongestLog);
    };
    try {
      jobs.submit(submission);
      const pod::PodJob job = jobs.follow(submission.id, hear);
      const int code = job.exit_code.value();
      return {.exit_code = code, .words = code == 0 ? "" : last_words(log)};
    } catch (const pod::Refused& refused) {
      return {.exit_code = refused.exit_code, .words = refused.words};
    } catch (...) {
      stop(jobs, submission.id);
      throw;
    }
  }

  // Never throws: what went wrong before is what the user must see.
  void stop(pod::PodJobs& jobs, const std::string& id) const noexcept {
    try {
      jobs.stop(id);
    } catch (const std::exception& error) {
      surroundings_.say(fmt::format("job {} may go on: {} stops it ({})", id,
                                    jobs.command_line({"jobs", "stop", id}), error.what()));
    }
  }

  std::string text_in(const std::string& path) {
    for (int tries = 1;; ++tries) {
      const pod::Ran ran = head_.run({"cat", "--", path});
      if (ran.is_good()) return ran.out;
      if (ran.lost.empty() || tries == kTries)
        throw CommandError(fmt::format("cluster: {} could not be read in Ray's head: {}", path, ran.words()));
      surroundings_.pause(kBetweenTries);
    }
  }

  void remove(const std::string& run) {
    const pod::Ran ran = head_.run({"rm", "-rf", "--", run});
    if (!ran.is_good()) surroundings_.say(fmt::format("{} stays, nobody needs it: {}", run, ran.words()));
  }

  eks::Kubernetes& kubernetes_;
  const eks::Deployment& deployment_;
  const eks::ClusterSettings& settings_;
  const ImageLock& lock_;
  const std::string side_;
  const MeasureOptions& options_;
  const eks::Surroundings& surroundings_;
  pod::HeadPod head_;
  Measured measured_;
};

}  // namespace

Measured measure(eks::Kubernetes& kubernetes, const eks::Deployment& deployment, const ImageLock& lock,
                 const std::string& side, const MeasureOptions& options,
                 const eks::Surroundings& surroundings) {
  return Measurer(kubernetes, deployment, lock, side, options, surroundings).measure();
}

std::vector<std::string> training_keys(const MeasureOptions& options, const eks::ClusterSettings& settings,
                                       const std::string& side) {
  return keys_of(options, settings, run_of(options, side, kTraining));
}

std::vector<std::string> all_reduce_keys(const MeasureOptions& options, const eks::ClusterSettings& settings,
                                         const std::string& side) {
  return keys_of(options, settings, run_of(options, side, kAllReduce));
}

std::string all_reduce_program(const MeasureOptions& options) {
  // Without the pipe for events it prints into the rank's log, which is read; NCCL's lines would stand in it.
  return fmt::format(
      "#!/bin/sh\n"
      "unset LOCKSTEP_EVENT_FD\n"
      "NCCL_DEBUG=WARN exec bin/lockstep bench allreduce --json --min-bytes {} --max-bytes {} --factor 4\n",
      std::max<int64_t>(options.all_reduce_bytes / 16, 1), options.all_reduce_bytes);
}

}  // namespace lockstep::cluster::accept
