// What a measurement found: a program's worth of it for each collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/bench/line_rate.h"
#include "lockstep/bench/measure.h"
#include "lockstep/bench/options.h"

namespace lockstep::bench {

// Where a rank runs.
struct RankPlace {
  int rank = 0, pid = 0;
  std::string host;
  int device = 0;       // its number among the visible ones; of a CPU worker its number on the host
  std::string address;  // of the GPU on the bus, "0000:19:00"; "cpu"
  std::string model;    // "NVIDIA H200"

  Json to_json() const;
  static RankPlace from_json(const Json& json);
  // Of this process. `gpu`: its device is a GPU, named by the driver.
  static RankPlace of_this_process(int rank, int local_rank, bool gpu);
};

struct Row {
  Size size;
  Measured out_of_place, in_place;
};

// Rows of one collective, in the order of the sizes.
struct OperationReport {
  Operation operation = Operation::kAllReduce;
  std::vector<Row> rows;

  int64_t wrong() const;                              // over all rows
  double average_bus_bandwidth(int num_ranks) const;  // GB/s, over all rows and both placements; 0 of none
  double best_bus_bandwidth(int num_ranks) const;     // GB/s; 0 of none
};

struct Skipped {
  Operation operation = Operation::kAllReduce;
  std::vector<int64_t> bytes;
  std::string reason;
};

struct Report {
  AllreduceOptions options;
  Algorithm algorithm = Algorithm::kLibrary;  // that was measured
  bool gpu = false;                           // over NCCL; else over Gloo
  bool one_host = true;
  std::vector<RankPlace> ranks;
  std::optional<LineRate> line_rate;  // none: not known, or one host
  std::vector<OperationReport> operations;
  std::vector<Skipped> skipped;

  int num_ranks() const { return static_cast<int>(ranks.size()); }
};

// Fields: docs/commands/bench.md.
Json to_json(const Report& report);

}  // namespace lockstep::bench
