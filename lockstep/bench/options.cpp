#include "lockstep/bench/options.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::bench {
namespace {

void require(bool holds, const char* option, double got, const char* takes) {
  if (!holds) throw ConfigError(fmt::format("bench: {} is {}: it takes {}", option, got, takes));
}

}  // namespace

void AllreduceOptions::validate() const {
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  require(min_bytes >= 4, "--min-bytes", number(min_bytes), "at least 4, one element");
  require(max_bytes >= min_bytes, "--max-bytes", number(max_bytes), "at least what --min-bytes is");
  require(factor >= 2, "--factor", number(factor), "a whole number from 2 on");
  require(repetitions.iterations >= 1, "--iters", repetitions.iterations, "a whole number from 1 on");
  require(repetitions.warmup >= 0, "--warmup-iters", repetitions.warmup, "a whole number from 0 on");
  if (num_workers) require(*num_workers >= 1, "--num-workers", *num_workers, "auto or a number from 1 on");
  if (line_rate_gbit_per_s)
    require(*line_rate_gbit_per_s > 0, "--line-rate", *line_rate_gbit_per_s, "Gbit/s, more than 0");
}

}  // namespace lockstep::bench
