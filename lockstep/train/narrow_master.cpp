#include "lockstep/train/narrow_master.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::train {

std::optional<std::string> narrow_master_warning(c10::ScalarType master, double lr) {
  if (master != c10::kBFloat16 || lr <= 0) return std::nullopt;
  const double stuck = std::exp2(std::ceil(8 + std::log2(lr)));
  return fmt::format(
      "precision.master is bf16: an update of optimizer.lr {:g} is rounded away on every weight above {:g} "
      "(norm weights are about 1). precision.master: fp32 keeps it",
      lr, stuck);
}

}  // namespace lockstep::train
