// A person at a terminal follows a job: the log as it grows, and Ctrl-C.
#pragma once

#include <ostream>
#include <string>

#include "lockstep/cluster/ray_client.h"

namespace lockstep::cli {

// Prints the job's log to `log` until the job is over; returns its exit code, said in words on standard
// error when it is not 0. The first Ctrl-C, SIGTERM or SIGHUP leaves the job alone and says how to return:
// 128 + signal. A second Ctrl-C within five seconds of it stops the job instead, and follows it to its end.
int attend_job(cluster::RayClient& client, const std::string& id, std::ostream& log);

}  // namespace lockstep::cli
