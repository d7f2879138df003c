#include "lockstep/record/metrics.h"

#include <fmt/core.h>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/record/event_sink.h"

namespace lockstep::record {

Json StepMetrics::to_json() const {
  Json json = {{"step", step}, {"loss", loss}, {"tokens", tokens}, {"tokens_per_s", tokens_per_s}};
  if (grad_norm) json["grad_norm"] = *grad_norm;
  json["lr"] = lr;
  json["step_ms"] = step_ms;
  if (slowest) {
    json["slowest_rank"] = slowest->rank;
    json["slowest_ms"] = slowest->ms;
    json["slowest_phase"] = slowest->phase;
    json["median_rank_ms"] = slowest->median_ms;
  }
  if (peak_bytes) json["peak_bytes"] = *peak_bytes;
  if (skipped) json["skipped"] = *skipped;

  LOCKSTEP_CHECK(reported.is_object() || reported.is_null()) << reported.dump();
  const Json stamp = make_event(1, "metrics", {});
  const Json ours = json;
  for (const auto& [key, value] : reported.items()) {
    // A loop may report the loss that the context gave it: the same value is no contradiction.
    const bool taken = stamp.contains(key) || (ours.contains(key) && to_line(ours[key]) != to_line(value));
    if (taken) {
      throw ConfigError(
          fmt::format("report: '{}' is a name of Lockstep's own, reported as {} at step {}; "
                      "report it under another name",
                      key, to_line(value), step));
    }
    json[key] = value;
  }
  return json;
}

void MetricsWriter::write(const StepMetrics& metrics) {
  const Json json = metrics.to_json();
  file_.write(to_line(json));
  if (live_ != nullptr) live_->write(to_line(make_event(generation_, "metrics", json)));
}

}  // namespace lockstep::record
