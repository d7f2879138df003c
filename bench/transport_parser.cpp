// How fast NCCL's logs are read, and in how much memory.
//
//   build/release/bin/bench_transport_parser --benchmark_repetitions=10
//   --benchmark_report_aggregates_only=true
//
// Each stream is one that a large log consists of. "Steps" are lines of training; "Collectives" is
// what NCCL_DEBUG_SUBSYS=COLL adds to them; "Start" is what the processes of a large job print
// when they open their communicators, lines that all carry evidence; "RayStart" is the same with Ray's
// coloured prefixes. LongStream reads 4 GB of steps and collectives after a start, and reports by how much
// the program's peak of resident memory grew meanwhile.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "lockstep/transport/log_evidence.h"
#include "lockstep/transport/verdict.h"

namespace lockstep::transport {
namespace {

constexpr size_t kStreamBytes = 64 << 20;
constexpr size_t kBlockBytes = 1 << 20;

std::string log_text(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(LOCKSTEP_SOURCE_DIR "/tests/data/transport/" + file).rdbuf();
  if (text.str().empty()) throw std::runtime_error("cannot read tests/data/transport/" + file);
  return text.str();
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string steps() {
  std::string text;
  for (int step = 1; text.size() < kStreamBytes; ++step) {
    text += fmt::format(
        "step {}/100000  loss {:.4f}  {}k tokens/s  grad norm 0.793  lr 2.50e-05  38.2 GiB  3:12 left\n",
        step, 2.0 + 1.0 / step, 14 + step % 3);
  }
  return text;
}

std::string collectives() {
  std::string text;
  for (int i = 0; text.size() < kStreamBytes; ++i) {
    text += fmt::format(
        "node-{}:{}:{} [{}] NCCL INFO AllGather: opCount {:x} sendbuff 0x7f2d5e{:06x} recvbuff "
        "0x7f2d5f{:06x} count "
        "16777216 datatype 9 op 0 root 0 comm 0x564c2d1d78b0 [nranks=16] stream 0x55d0c8a1f0e0\n",
        i % 2, 1000 + i % 8, 1700 + i % 8, i % 8, i, i % 65536, i % 65536);
  }
  return text;
}

// A job of many hosts: each pair of them as in the log of two.
std::string start(const std::string& file) {
  const std::string two = log_text(file);
  std::string text;
  for (int pair = 0; text.size() < kStreamBytes; ++pair) {
    std::string copy = two;
    replace_all(copy, "node-0:", fmt::format("node-{}:", 2 * pair));
    replace_all(copy, "node-1:", fmt::format("node-{}:", 2 * pair + 1));
    text += copy;
  }
  return text;
}

void feed(LogEvidence& evidence, std::string_view text) {
  for (size_t at = 0; at < text.size(); at += kBlockBytes) evidence.add(text.substr(at, kBlockBytes));
}

void read_stream(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    LogEvidence evidence;
    evidence.begin_source("stream");
    feed(evidence, text);
    evidence.end_source();
    benchmark::DoNotOptimize(evidence.num_records());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

void Steps(benchmark::State& state) { read_stream(state, steps()); }
void Collectives(benchmark::State& state) { read_stream(state, collectives()); }
void Start(benchmark::State& state) { read_stream(state, start("a21_alltoall_shared.log")); }
void RayStart(benchmark::State& state) { read_stream(state, start("a12_ray_ansi_efa.log")); }

BENCHMARK(Steps)->Unit(benchmark::kMillisecond);
BENCHMARK(Collectives)->Unit(benchmark::kMillisecond);
BENCHMARK(Start)->Unit(benchmark::kMillisecond);
BENCHMARK(RayStart)->Unit(benchmark::kMillisecond);

// The verdict itself, on 16 ranks with connections between all of them.
void Judge(benchmark::State& state) {
  LogEvidence evidence;
  evidence.begin_source("stream");
  evidence.add(log_text("a21_alltoall_shared.log"));
  evidence.end_source();
  for (auto _ : state) benchmark::DoNotOptimize(judge(evidence));
}
BENCHMARK(Judge)->Unit(benchmark::kMicrosecond);

// "VmHWM" of /proc/self/status.
double peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  throw std::runtime_error("no VmHWM in /proc/self/status");
}

void LongStream(benchmark::State& state) {
  const std::string text = steps() + collectives();
  double grown = 0;
  int64_t bytes = 0;
  for (auto _ : state) {
    LogEvidence evidence;
    evidence.begin_source("stream");
    feed(evidence, log_text("a21_alltoall_shared.log"));
    feed(evidence, text);
    const double before = peak_resident_bytes();
    for (int64_t left = int64_t{4} << 30; left > 0; left -= static_cast<int64_t>(text.size())) {
      feed(evidence, text);
      bytes += static_cast<int64_t>(text.size());
    }
    grown = peak_resident_bytes() - before;
  }
  state.SetBytesProcessed(bytes);
  state.counters["peak_resident_growth_bytes"] = grown;
}
BENCHMARK(LongStream)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace lockstep::transport
