// Watches a job over its REST API until it is over, through every loss of the connection and trouble of Ray's
// own (status 500): a follower that goes away, or a server that does, changes nothing for the job.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lockstep/cluster/ray_client.h"

namespace lockstep::cluster {

struct JobFollowing {
  // Whole lines that are new in the job's log, with their ends; the last line of all may have none.
  std::function<void(std::string_view)> log;
  // That the connection was lost, or is back: a line without its end.
  std::function<void(const std::string&)> note;
  // Called between two looks, to wait. True: stop following.
  std::function<bool(std::chrono::milliseconds)> pause;
  // Between two looks; longer when the log takes long to come, since Ray sends all of it each time.
  std::chrono::milliseconds interval{1000};
  std::chrono::seconds patience{600};  // without a good answer
};

// Returns the job once it is over and its whole log was handed on; nothing when `pause` said to stop.
// Throws NoAnswerError when there was no good answer for `patience`, and RayClient's ConfigErrors.
std::optional<RayJob> follow_job(RayClient& client, const std::string& id, const JobFollowing& following);

}  // namespace lockstep::cluster
