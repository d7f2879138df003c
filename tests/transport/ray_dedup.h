// What Ray makes of the lines of its workers: a prefix, and of lines that are alike one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/transport/fake_job.h"

namespace lockstep::transport {

// `processes` run as Ray's workers, the first host being the driver's. Their lines come interleaved
// by `seed`; `window` lines are Ray's five seconds. Two lines are alike when they are so without
// every word that holds a digit. The first of each kind is shown at once, the last at the end of the
// window with "[repeated Nx across cluster]".
std::string ray_deduplicated(const std::vector<FakeProcess>& processes, uint32_t seed, size_t window);

}  // namespace lockstep::transport
