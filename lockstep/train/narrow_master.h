// Updates that bfloat16 weights lose.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>

namespace lockstep::train {

// A warning, where weights of `master` do not hold updates of `lr`; nothing where they do. bfloat16 has 8
// bits of significand, so from 2^k on its values are 2^(k-7) apart and an update below half of that is
// rounded away. AdamW moves a weight by lr and little more, so such a weight keeps its value however often it
// is updated.
std::optional<std::string> narrow_master_warning(c10::ScalarType master, double lr);

}  // namespace lockstep::train
