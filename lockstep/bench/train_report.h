// What timing training steps found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/gpu_power.h"
#include "lockstep/base/json.h"
#include "lockstep/bench/kernel_times.h"
#include "lockstep/bench/train_options.h"
#include "lockstep/models/config.h"

namespace lockstep::bench {

// Floating-point operations of the matrix products and of causal attention for one token, forward and
// backward: 6 for each weight of a product (the embedding's lookup is none, the head's product is one), and
// 6 * layers * query width * tokens a row for attention, of whose scores half are looked at. Nothing that is
// computed again counts.
double flops_per_token(const models::ModelSpec& spec, int64_t sequence_length);

struct TrainReport {
  TrainOptions options;
  std::string device;                          // "NVIDIA H200", or the CPU's name
  std::string strategy, compute, determinism;  // as settled: full, bf16, run
  int64_t parameters = 0;
  int64_t accumulation = 1;            // micro-batches a worker and step
  double flops_per_token = 0;          // as above
  double loss = 0;                     // of the last step, to see that it trained
  int64_t peak_bytes = 0;              // of rank 0
  std::vector<double> step_ms;         // by timed step
  std::optional<PowerUse> power;       // of worker 0's GPU over the timed steps
  std::optional<KernelTimes> kernels;  // of the traced step

  double median_ms() const;
  int64_t tokens_per_step() const;  // over all workers
  double tokens_per_s() const;      // over all workers
  double tflops_per_s() const;      // of one worker
  double joules_per_step() const;   // of worker 0's GPU; where `power` is there
};

// Lines for people, without the last newline.
std::string to_text(const TrainReport& report);
// Fields: docs/commands/bench.md.
Json to_json(const TrainReport& report);

}  // namespace lockstep::bench
