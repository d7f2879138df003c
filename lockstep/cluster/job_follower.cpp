#include "lockstep/cluster/job_follower.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/clock.h"

namespace lockstep::cluster {
namespace {

using std::chrono::milliseconds;

class Follower {
 public:
  Follower(RayClient& client, const std::string& id, const JobFollowing& following)
      : client_(client), id_(id), following_(following) {}

  std::optional<RayJob> follow() {
    while (true) {
      const auto job = look_patiently();
      if (job && job->is_over()) return job;
      if (following_.pause(wait_)) return std::nullopt;
    }
  }

 private:
  // The status first: a log that is read after it is whole when the status says that the job is over.
  RayJob look() {
    const Stopwatch taken;
    const RayJob job = client_.job(id_);
    hand_on_log_of(job);
    // At most a tenth of the time goes into asking, or a look every ten seconds.
    const auto ten_times = std::chrono::ceil<milliseconds>(taken.elapsed() * 10);
    wait_ = std::max(following_.interval, std::min<milliseconds>(ten_times, std::chrono::seconds(10)));
    return job;
  }

  std::optional<RayJob> look_patiently() {
    try {
      RayJob job = look();
      if (is_lost_) following_.note(fmt::format("{} answers again", client_.address()));
      is_lost_ = false;
      return job;
    } catch (const CommandError& error) {  // no answer, or one that says that Ray is in trouble
      if (!is_lost_) {
        is_lost_ = true;
        silence_.restart();
        following_.note(fmt::format("{}; the job goes on without us, trying again", error.what()));
      }
      if (silence_.elapsed() > following_.patience) {
        throw NoAnswerError(fmt::format("{}, for {} s now; the job may go on: {}", error.what(),
                                        following_.patience.count(),
                                        client_.jobs_command(fmt::format("logs {} -f", id_))));
      }
      return std::nullopt;
    }
  }

  void hand_on_log_of(const RayJob& job) {
    try {
      hand_on(client_.logs(id_), job.is_over());
    } catch (const NoAnswerError&) {
      throw;
    } catch (const CommandError& error) {
      // The log goes with the driver's node: a job that ended with it has none any more.
      if (!job.is_over()) throw;
      following_.note(fmt::format("the end of the log cannot be had: {}", error.what()));
    }
  }

  // A line that is still being written waits until its end is there, or the job's.
  void hand_on(const std::string& log, bool is_whole) {
    if (log.size() <= num_handed_on_) return;
    const size_t end = is_whole ? log.size() : log.rfind('\n') + 1;  // 0 without any line
    if (end <= num_handed_on_) return;
    following_.log(std::string_view(log).substr(num_handed_on_, end - num_handed_on_));
    num_handed_on_ = end;
  }

  RayClient& client_;
  const std::string id_;
  const JobFollowing& following_;
  milliseconds wait_ = following_.interval;
  size_t num_handed_on_ = 0;  // bytes of the log
  bool is_lost_ = false;
  Stopwatch silence_;  // since the connection was lost
};

}  // namespace

std::optional<RayJob> follow_job(RayClient& client, const std::string& id, const JobFollowing& following) {
  return Follower(client, id, following).follow();
}

}  // namespace lockstep::cluster
