// The time of one collective at one size, and whether its data was right.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "lockstep/bench/collective.h"
#include "lockstep/bench/operation.h"
#include "lockstep/comm/communicator.h"

namespace lockstep::bench {

enum class Placement { kOutOfPlace, kInPlace };

struct Repetitions {
  int iterations = 20;
  int warmup = 5;
};

struct Measured {
  double seconds = 0;  // of one call: the mean over the iterations and the ranks
  int64_t wrong = 0;   // elements with another value than the right one, over all ranks

  double algorithm_bandwidth(const Size& size) const;  // GB/s (1e9 bytes a second): bytes / time
  double bus_bandwidth(Operation operation, const Size& size, int num_ranks) const;  // GB/s
};

// Collective over `control`, which keeps the ranks together and folds their times; `collective` runs among
// the same ranks. As nccl-tests does it: the host's clock around all iterations, which are enqueued one
// after the other and waited for once, between barriers; then one more call on fresh data, which is checked.
// Buffers live on `device`. Throws what the collective throws.
Measured measure(Operation operation, Placement placement, const Size& size, const Repetitions& repetitions,
                 const Collective& collective, comm::Communicator& control, at::Device device);

// How many buffers of a size's bytes a rank holds at most while it is measured, with what the collective
// itself takes. `fixed_order`: the collective is a Communicator's, not a library's.
int buffers_held(Operation operation, bool fixed_order);
// The same in bytes, with what checking takes.
int64_t working_bytes(Operation operation, const Size& size, bool fixed_order);

}  // namespace lockstep::bench
