// What the user is told when a GPU's memory is full: what was asked for, what holds the rest, and which
// settings would fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::train {

// One rank's, at the moment when an allocation failed. Bytes.
struct FullMemory {
  std::string device, where;  // "cuda:0", "step 12, backward"
  int64_t asked = 0;
  int64_t total = 0, free = 0, allowed = 0;  // of the device; allowed: that torch's allocator may take
  int64_t shards = 0, gradients = 0, optimizer = 0, gathered = 0;
  int64_t tensors = 0;    // all of this process: those four, and above all activations
  int64_t allocator = 0;  // that torch's allocator has taken for them
  // The recipe's, as they are.
  int64_t micro_batch = 1, sequence_length = 1;
  int num_workers = 1;
  bool sharded = false;  // by full or grad_op: more workers hold less each
  bool narrow_master = false;
  std::string recompute = "none";  // sharding.recompute

  int64_t activations() const { return tensors - shards - gradients - optimizer - gathered; }
};

// Settings of the recipe that need less than the device has by the figures of `full`, each alone sufficient.
// What more would have been asked for later is not known, so they are a lower bound.
std::vector<std::string> settings_that_fit(const FullMemory& full);

std::string out_of_memory_words(const FullMemory& full);

}  // namespace lockstep::train
