// The collectives that are measured, with the words and definitions of nccl-tests (PERFORMANCE.md there).
// W = ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::bench {

enum class Operation { kAllReduce, kAllGather, kReduceScatter };

std::string word(Operation operation);     // "all_reduce", "all_gather", "reduce_scatter"
std::string program(Operation operation);  // nccl-tests' name for its measurement: "all_reduce_perf"
std::string redop(Operation operation);    // "sum", or "none" where nothing is summed

// By its word, or "all". Throws ConfigError with the known ones.
std::vector<Operation> parse_operations(const std::string& words);

// What makes the algorithm's bandwidth (bytes / time) that of the busiest link: 2 (W-1)/W for an
// all-reduce, (W-1)/W for the others. So the bus bandwidth does not depend on W.
double bus_factor(Operation operation, int num_ranks);

// One size as float32 elements.
struct Size {
  int64_t bytes = 0;  // of the larger buffer: of all ranks together for a gather or a scatter
  int64_t count = 0;  // elements: of the buffer for an all-reduce, of one rank's part for the others
};

// The size nearest to `bytes` from below. Parts of a gather or a scatter are whole multiples of 16 bytes,
// so the bytes can come out as 0.
Size size_of(Operation operation, int64_t bytes, int num_ranks);

}  // namespace lockstep::bench
