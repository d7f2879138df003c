// The figures in what a job has written: docs/run_directory.md, docs/transport.md and, of the all-reduce,
// docs/commands/bench.md.
#pragma once

#include <cstdint>
#include <string>

#include "lockstep/cluster/image/acceptance.h"

namespace lockstep::cluster::accept {

// Each puts its part into `figures`, and throws CommandError for a text that has not got it.

// A rank's log with the JSON document of `lockstep bench allreduce` in it.
void read_all_reduce(const std::string& log, ImageMeasurement& figures);
// transport/gNNN-verdict.json.
void read_verdict(const std::string& verdict, ImageMeasurement& figures);
// metrics/gNNN.jsonl, which must have `steps` lines; the first `skipped` do not count for the times.
void read_steps(const std::string& metrics, int64_t steps, int64_t skipped, ImageMeasurement& figures);

}  // namespace lockstep::cluster::accept
