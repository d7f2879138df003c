// Where a program is stuck, for whoever asks from outside.
#pragma once

namespace lockstep {

// From now on SIGUSR2 writes the calls that the main thread is in to standard error, innermost
// first, with the names of the library's own functions; the program goes on. Call it from the main thread.
void dump_stack_on_sigusr2();

}  // namespace lockstep
