// SIGINT and SIGTERM to a worker, kept until the step is done: all ranks stop after the same
// step, whenever the signal reached each of them.
#pragma once

namespace lockstep::train {

// Installs the handlers. Until `take_over_signals` the signals end the process at once. Also ignores
// SIGPIPE: a write to a peer that is gone must fail as an error that names it, not end the process.
void take_over_signals();

// The signal that came first, or 0. Async-signal-safe to set, cheap to read.
int stop_signal();

}  // namespace lockstep::train
