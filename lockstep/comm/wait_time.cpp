#include "lockstep/comm/wait_time.h"

namespace lockstep::comm {
namespace {

// By thread and not by rank: one thread of a rank may call at a time, and ranks may be threads of one
// process.
thread_local std::chrono::nanoseconds waited{0};

}  // namespace

std::chrono::nanoseconds time_waited() { return waited; }

CountedWait::~CountedWait() { waited += std::chrono::steady_clock::now() - begin_; }

}  // namespace lockstep::comm
