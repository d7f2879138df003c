// Where a rank is: a few words that it writes as it goes and that anyone may read at any
// time, without locks. The heartbeat carries them to the store, so that a lost or stuck
// peer can be named with the place where it was last seen.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace lockstep::comm {

struct Position {
  std::atomic<int64_t> step{-1};                  // optimizer step, from 0; -1: before the first
  std::atomic<const char*> phase{"start"};        // "forward", "backward", ...: static strings only
  std::atomic<int> unit{-1};                      // index of the FSDP unit; -1: none
  std::atomic<int64_t> sequence{0};               // collectives that this rank has started
  std::atomic<const char*> operation{"nothing"};  // the last one of them: a static string

  // "step 12, backward, unit 3, all_gather #214"
  std::string words() const;
};

}  // namespace lockstep::comm
