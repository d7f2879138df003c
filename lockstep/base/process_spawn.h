// The step between two programs: what happens in a child before it becomes the other one.
// Internal to process.cpp.
#pragma once

#include <sys/types.h>

#include <vector>

namespace lockstep::internal {

// All that the child needs, allocated beforehand: between vfork and exec it shares our memory and
// may only make system calls.
struct SpawnPlan {
  std::vector<const char*> candidates;  // paths to try in turn, as PATH says
  std::vector<char*> argv;              // null-terminated
  std::vector<char*> environment;       // null-terminated
  struct Move {
    int from, to;
  };
  // Descriptors to put in place; every `from` is above every `to`, so that no move hits another.
  std::vector<Move> moves;
  bool die_with_parent = true;
  bool new_session = false;
  bool new_group = false;
};

// Returns the child's process id, or minus the errno with which it could not become the program.
pid_t spawn(const SpawnPlan& plan);

}  // namespace lockstep::internal
