#include "lockstep/bench/operation.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::bench {
namespace {

constexpr int64_t kElementBytes = 4;        // float32
constexpr int64_t kPartAlignment = 16 / 4;  // elements: 16 bytes

}  // namespace

std::string word(Operation operation) {
  switch (operation) {
    case Operation::kAllReduce:
      return "all_reduce";
    case Operation::kAllGather:
      return "all_gather";
    case Operation::kReduceScatter:
      break;
  }
  return "reduce_scatter";
}

std::string program(Operation operation) { return word(operation) + "_perf"; }

std::string redop(Operation operation) { return operation == Operation::kAllGather ? "none" : "sum"; }

std::vector<Operation> parse_operations(const std::string& words) {
  const std::vector<Operation> all = {Operation::kAllReduce, Operation::kAllGather,
                                      Operation::kReduceScatter};
  if (words == "all") return all;
  for (const Operation operation : all) {
    if (words == word(operation)) return {operation};
  }
  throw ConfigError(fmt::format(
      "bench: no collective \"{}\": --op takes all_reduce, all_gather, reduce_scatter or all", words));
}

double bus_factor(Operation operation, int num_ranks) {
  const double share = static_cast<double>(num_ranks - 1) / num_ranks;
  return operation == Operation::kAllReduce ? 2 * share : share;
}

Size size_of(Operation operation, int64_t bytes, int num_ranks) {
  const int64_t elements = bytes / kElementBytes;
  if (operation == Operation::kAllReduce) return {elements * kElementBytes, elements};
  const int64_t part = elements / num_ranks / kPartAlignment * kPartAlignment;
  return {part * num_ranks * kElementBytes, part};
}

}  // namespace lockstep::bench
