#include "lockstep/bench/step_times.h"

#include "lockstep/record/metrics.h"
#include "lockstep/record/run_directory.h"

namespace lockstep::bench {

std::vector<double> step_times_of(const std::string& run_dir) {
  std::vector<double> step_ms;
  for (const record::MetricsRow& row : record::read_metrics(record::RunDirectory::open(run_dir)))
    step_ms.push_back(row.values.at("step_ms").get<double>());
  return step_ms;
}

}  // namespace lockstep::bench
