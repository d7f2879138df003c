// Events and metrics of a run as lines for people. Fields: docs/worker_protocol.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/base/json.h"

namespace lockstep::launch {

// "step 12/20  loss 4.8312  1.2k tokens/s  grad norm 1.23  lr 9.80e-03  1.20 GiB  0:12 left", then
// what a train function reported under names of its own. What is not in `metrics` is left out.
std::string metrics_text(const Json& metrics, std::optional<int64_t> total_steps,
                         std::optional<double> seconds_left);

// "evaluation before training: held_out loss 3.4120 over 8123 tokens"; an event without words
// of its own gives its name and plain fields.
std::string event_text(const Json& event);

// "0:07", "12:34", "3:04:05".
std::string duration_text(double seconds);
// 12, 1.2k, 34k, 5.6M.
std::string count_text(double count);

}  // namespace lockstep::launch
