#include "lockstep/bench/report_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/base/build_info.h"
#include "lockstep/base/byte_size.h"

namespace lockstep::bench {
namespace {

// As many decimals as fit into nccl-tests' column: two, one, none, then an exponent.
std::string number(double value, int width) {
  int digits = 0;
  for (double limit = 1; value >= limit && digits < width + 1; limit *= 10) ++digits;
  if (digits > width) return fmt::format("{:{}.{}e}", value, width, width >= 7 ? 1 : 0);
  return fmt::format("{:{}.{}f}", value, width, digits < width - 2 ? 2 : digits < width - 1 ? 1 : 0);
}

std::string measured_text(const Measured& measured, Operation operation, const Size& size, int num_ranks) {
  return fmt::format("  {}  {}  {}  {:6}", number(measured.seconds * 1e6, 7),
                     number(measured.algorithm_bandwidth(size), 6),
                     number(measured.bus_bandwidth(operation, size, num_ranks), 6), measured.wrong);
}

std::string heading(const char* size, const char* count, const char* type, const char* redop,
                    const char* root, const char* time, const char* algbw, const char* busbw,
                    const char* wrong) {
  const std::string placement = fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", time, algbw, busbw, wrong);
  std::string line = fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{}{}", size, count, type, redop, root,
                                 placement, placement);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string line_rate_text(const Report& report, const OperationReport& operation) {
  if (!report.line_rate)
    return report.one_host ? "none, all ranks are on one host" : "not known, --line-rate gives it";
  return fmt::format(
      "{:g} Gbit/s = {:g} GB/s ({}), best bus bandwidth {:.1f} % of it", report.line_rate->gbit_per_s,
      report.line_rate->gbyte_per_s(), report.line_rate->source,
      100 * operation.best_bus_bandwidth(report.num_ranks()) / report.line_rate->gbyte_per_s());
}

}  // namespace

std::string head_text(const Report& report) {
  const char* library = report.gpu ? "NCCL" : "Gloo";
  std::string text = fmt::format("# lockstep version {} ({})\n", kVersion, kCommit);
  text +=
      report.algorithm == Algorithm::kLibrary
          ? fmt::format("# Algorithm: library, the collectives of {} itself (torch's process group)\n",
                        library)
          : fmt::format("# Algorithm: lockstep, training's own: sums in one fixed order, data moved by {}\n",
                        library);
  text += "# Using devices";
  for (const RankPlace& place : report.ranks) {
    text += fmt::format("\n#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [{}] {}", place.rank, 0,
                        place.pid, place.host, place.device, place.address, place.model);
  }
  return text;
}

std::string columns_text(const Report& report, Operation operation) {
  const AllreduceOptions& options = report.options;
  std::string text = fmt::format(
      "#\n# Collective test starting: {}\n"
      "# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {}(factor) warmup iters: {} iters: {} agg iters: 1 "
      "validation: 1 graph: 0\n#\n",
      program(operation), options.min_bytes, options.max_bytes, options.factor, options.repetitions.warmup,
      options.repetitions.iterations);
  text += fmt::format(
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}           out-of-place                       in-place\n", "", "",
      "", "", "");
  text += heading("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong") + "\n";
  return text + heading("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "");
}

std::string row_text(const Row& row, Operation operation, int num_ranks) {
  return fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:>6}", row.size.bytes, row.size.count, "float",
                     redop(operation), -1) +
         measured_text(row.out_of_place, operation, row.size, num_ranks) +
         measured_text(row.in_place, operation, row.size, num_ranks);
}

std::string foot_text(const Report& report, const OperationReport& operation) {
  const int64_t wrong = operation.wrong();
  std::string text =
      fmt::format("# {:<20} : {} {}\n", "Out of bounds values", wrong, wrong == 0 ? "OK" : "FAILED");
  text += fmt::format("# {:<20} : {:g}\n", "Avg bus bandwidth",
                      operation.average_bus_bandwidth(report.num_ranks()));
  text += fmt::format("# {:<20} : {}\n", "Line rate", line_rate_text(report, operation));
  return text + fmt::format("#\n# Collective test concluded: {}", program(operation.operation));
}

std::string skipped_text(const Report& report) {
  std::string text;
  for (const Skipped& skipped : report.skipped) {
    std::vector<std::string> sizes;
    for (const int64_t bytes : skipped.bytes) sizes.push_back(format_bytes(bytes));
    text += fmt::format("{}# Skipped: {} of {}: {}", text.empty() ? "" : "\n", program(skipped.operation),
                        fmt::join(sizes, ", "), skipped.reason);
  }
  return text;
}

}  // namespace lockstep::bench
