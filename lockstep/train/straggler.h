// Which rank the others wait for, and where it loses the time.
#pragma once

#include <span>

#include "lockstep/record/metrics.h"
#include "lockstep/train/phase_clock.h"

namespace lockstep::train {

// `ranks`: what each spent itself since the last exchange, by rank; not empty. The slowest is the one
// with the largest sum, of equal ones the first; its phase the one in which it is furthest above the
// median of the ranks. So a rank whose data is late is said to be slow in "data" also where
// backward takes everybody longer.
record::SlowestRank slowest_of(std::span<const PhaseTimes> ranks);

}  // namespace lockstep::train
