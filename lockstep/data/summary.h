// What the data came to: printed when a run starts, and kept in its record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/data/cut.h"
#include "lockstep/data/jsonl.h"

namespace lockstep::data {

struct SplitSummary {
  CutCounts counts;
  int64_t rows = 0;
  double padding_share = 0;  // of the positions in the rows

  Json to_json() const;
};

struct DataSummary {
  int64_t sequence_length = 0;
  std::vector<JsonlFile> files;  // data.sources in their order, then a held-out file; none: random tokens
  std::optional<SplitSummary> train;  // absent: random tokens
  std::optional<SplitSummary> held_out;
  int64_t global_batch = 0;
  int64_t steps = 0;

  Json to_json() const;
  // A few lines, each complete in itself.
  std::vector<std::string> to_lines() const;
};

}  // namespace lockstep::data
