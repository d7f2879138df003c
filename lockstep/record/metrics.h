// A run's numbers, a line an optimizer step: metrics/gNNN.jsonl. Fields: docs/run_directory.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/record/line_sink.h"
#include "lockstep/record/run_directory.h"

namespace lockstep::record {

// Of the ranks' own times, without what they waited for each other, the longest.
struct SlowestRank {
  int rank = 0;
  double ms = 0;
  std::string phase;     // in which it is furthest above the others
  double median_ms = 0;  // over all ranks; of an even number the lower one
};

struct StepMetrics {
  int64_t step = 0;                    // optimizer step, from 1
  double loss = 0;                     // mean over the trained tokens of the global batch
  int64_t tokens = 0;                  // trained on in this step, over all ranks
  double tokens_per_s = 0;             // trained tokens a second, over all ranks
  std::optional<double> grad_norm;     // before clipping
  double lr = 0;                       // that the step used
  double step_ms = 0;                  // wall time of the step
  std::optional<SlowestRank> slowest;  // absent: there is one rank
  std::optional<int64_t> peak_bytes;   // most that this rank used so far: on its GPU, or of its process
  std::optional<std::string> skipped;  // why the weights were left as they were; absent: they were not
  Json reported;                       // what the train function reported: an object, or null

  // {"step": ..., "loss": ...} in the order above, without what is absent, then `reported`.
  // Throws ConfigError when `reported` gives one of these names, or an event's own, another value.
  Json to_json() const;
};

// Writes each step to the run's folder and, as an event "metrics", to a live reader.
class MetricsWriter {
 public:
  // The sinks must outlive it; `live` may be null.
  MetricsWriter(int generation, LineSink& file, LineSink* live)
      : generation_(generation), file_(file), live_(live) {}
  // Throws IoError when the run's folder cannot take it.
  void write(const StepMetrics& metrics);

 private:
  int generation_;
  LineSink& file_;
  LineSink* live_;
};

struct MetricsRow {
  int generation = 1;
  Json values;  // one line of the file
};

// Every step once, in order: of each generation the steps before those that a later one took up
// again. A last line that was cut short by a crash is left out; any other line that is not an
// object with a `step` throws IoError with its file and number.
std::vector<MetricsRow> read_metrics(const RunDirectory& run);

}  // namespace lockstep::record
