#include "lockstep/data/batch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"

namespace lockstep::data {

BatchPlan::BatchPlan(int64_t global_batch, int64_t micro_batch, int64_t rank, int64_t num_ranks)
    : global_batch_(global_batch), micro_batch_(micro_batch), rank_(rank), num_ranks_(num_ranks) {
  LOCKSTEP_CHECK(rank >= 0 && rank < num_ranks) << "rank " << rank << " of " << num_ranks;
  if (global_batch < 1 || micro_batch < 1) {
    throw ConfigError(fmt::format("train.global_batch and train.micro_batch must be positive, got {} and {}",
                                  global_batch, micro_batch));
  }
  const int64_t unit = micro_batch * num_ranks;
  if (global_batch % unit != 0) {
    const int64_t below = global_batch / unit * unit;
    throw ConfigError(
        fmt::format("train.global_batch: {} rows cannot be split into micro-batches of {} "
                    "(train.micro_batch) over {} ranks: "
                    "it must be a multiple of {}, such as {}",
                    global_batch, micro_batch, num_ranks, unit, below > 0 ? below : unit));
  }
  accumulation_ = global_batch / unit;
}

int64_t steps_for_epochs(double epochs, int64_t rows_per_epoch, int64_t global_batch) {
  // A product such as 0.1 * 30 lands just above the whole number that was meant.
  const double steps = epochs * double(rows_per_epoch) / double(global_batch);
  return std::max<int64_t>(1, int64_t(std::ceil(steps * (1 - 1e-12))));
}

}  // namespace lockstep::data
