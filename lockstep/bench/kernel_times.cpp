#include "lockstep/bench/kernel_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace lockstep::bench {
namespace {

constexpr const char* kCommunication = "communication";

// The first that fits decides: our own kernels bear their file's name.
constexpr std::pair<const char*, const char*> kWords[] = {
    {"nccl", kCommunication},    {"ordered_sum", kCommunication},
    {"PtoP", kCommunication},  // copies from other GPUs
    {"rms_norm", "norms"},       {"sum_groups", "norms"},
    {"swiglu", "activation"},    {"rotary", "rotary"},
    {"softmax_loss", "loss"},    {"adamw", "optimizer"},
    {"square", "gradient norm"}, {"aminmax", "gradient norm"},
    {"MinMax", "gradient norm"}, {"LpNorm", "gradient norm"},
    {"lpnorm", "gradient norm"}, {"cudnn", "attention"},
    {"fmha", "attention"},       {"flash", "attention"},
    {"sdpa", "attention"},       {"gemm", "products"},
    {"nvjet", "products"},       {"cutlass", "products"},
    {"cublas", "products"},      {"splitK", "products"},
    {"Memcpy", "copies"},        {"Memset", "copies"},
    {"copy", "copies"},          {"Fill", "copies"}};

double ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

// Time covered by at least one of the runs, which are sorted by their start.
int64_t covered_ns(const std::vector<KernelRun>& runs) {
  int64_t total = 0, until = runs.empty() ? 0 : runs.front().start_ns;
  for (const KernelRun& run : runs) {
    total += std::max<int64_t>(0, run.end_ns - std::max(run.start_ns, until));
    until = std::max(until, run.end_ns);
  }
  return total;
}

void add(std::map<std::string, KernelTime>& times, const std::string& name, const KernelRun& run) {
  KernelTime& time = times[name];
  time.name = name;
  ++time.count;
  time.ms += ms(run.end_ns - run.start_ns);
}

std::vector<KernelTime> longest_first(const std::map<std::string, KernelTime>& times) {
  std::vector<KernelTime> result;
  for (const auto& [name, time] : times) result.push_back(time);
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.ms > b.ms; });
  return result;
}

Json to_json(const std::vector<KernelTime>& times) {
  Json result = Json::array();
  for (const KernelTime& time : times)
    result.push_back({{"name", time.name}, {"count", time.count}, {"ms", time.ms}});
  return result;
}

}  // namespace

std::string class_of_kernel(const std::string& name) {
  for (const auto& [word, kind] : kWords) {
    if (name.find(word) != std::string::npos) return kind;
  }
  return "other";
}

KernelTimes times_of(const std::vector<KernelRun>& runs) {
  KernelTimes result;
  if (runs.empty()) return result;
  std::vector<KernelRun> sorted = runs, computing;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  std::map<std::string, KernelTime> classes, kernels;
  int64_t last = sorted.front().end_ns;
  for (const KernelRun& run : sorted) {
    const std::string kind = class_of_kernel(run.name);
    add(classes, kind, run);
    add(kernels, run.name, run);
    if (kind != kCommunication) computing.push_back(run);
    last = std::max(last, run.end_ns);
  }
  const int64_t busy = covered_ns(sorted);
  result.span_ms = ms(last - sorted.front().start_ns);
  result.busy_ms = ms(busy);
  result.exposed_ms = ms(busy - covered_ns(computing));
  result.classes = longest_first(classes);
  result.kernels = longest_first(kernels);
  if (result.kernels.size() > KernelTimes::kTopKernels) result.kernels.resize(KernelTimes::kTopKernels);
  return result;
}

std::string to_text(const KernelTimes& times) {
  std::string text =
      fmt::format("{:<16} {:.1f} ms from the first kernel to the last, {:.1f} ms of them idle\n",
                  "traced step", times.span_ms, times.span_ms - times.busy_ms);
  for (const KernelTime& time : times.classes) {
    text += fmt::format("  {:<14} {:>8.2f} ms {:>6} kernels", time.name, time.ms, time.count);
    if (time.name == kCommunication)
      text += fmt::format(", {:.2f} ms of them while nothing else ran", times.exposed_ms);
    text += '\n';
  }
  return text;
}

Json to_json(const KernelTimes& times) {
  return {{"span_ms", times.span_ms},
          {"busy_ms", times.busy_ms},
          {"communication_exposed_ms", times.exposed_ms},
          {"classes", to_json(times.classes)},
          {"kernels", to_json(times.kernels)}};
}

}  // namespace lockstep::bench
