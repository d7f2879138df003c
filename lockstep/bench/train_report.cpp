#include "lockstep/bench/train_report.h"

#include <fmt/format.h>

#include "lockstep/base/build_info.h"
#include "lockstep/base/optional_json.h"
#include "lockstep/bench/compare_networks.h"

namespace lockstep::bench {
namespace {

Json power_json(const TrainReport& report) {
  if (!report.power) return {};
  const PowerUse& power = *report.power;
  return {{"watts", power.watts},
          {"limit_watts", power.limit_watts},
          {"joules_per_step", report.joules_per_step()},
          {"sm_clock_mhz", power.sm_clock_mhz},
          {"max_sm_clock_mhz", power.max_sm_clock_mhz},
          {"held_by", power.held_by}};
}

}  // namespace

double flops_per_token(const models::ModelSpec& spec, int64_t sequence_length) {
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const double width = number(spec.hidden_size), query = number(spec.query_width());
  const double attention_weights = width * (2 * query + 2 * number(spec.key_value_width()));
  const double mlp_weights = 3 * width * number(spec.intermediate_size);
  const double layers = number(spec.num_layers);
  const double weights = layers * (attention_weights + mlp_weights) + width * number(spec.vocab_size);
  return 6 * weights + 6 * layers * query * number(sequence_length);
}

double TrainReport::median_ms() const { return Spread::of(step_ms).median; }

int64_t TrainReport::tokens_per_step() const {
  return options.batch * options.sequence_length * options.num_workers * accumulation;
}

double TrainReport::tokens_per_s() const {
  return static_cast<double>(tokens_per_step()) / (median_ms() / 1000);
}

double TrainReport::tflops_per_s() const {
  return tokens_per_s() / options.num_workers * flops_per_token / 1e12;
}

double TrainReport::joules_per_step() const { return power.value().watts * median_ms() / 1e3; }

std::string to_text(const TrainReport& report) {
  const TrainOptions& options = report.options;
  const Spread spread = Spread::of(report.step_ms);
  std::string text = fmt::format(
      "{}: {} parameters, {} x {} tokens a worker, {} worker{} on {}, sharding {}, {}, determinism {}\n",
      options.model, report.parameters, options.batch * report.accumulation, options.sequence_length,
      options.num_workers, options.num_workers == 1 ? "" : "s", report.device, report.strategy,
      report.compute, report.determinism);
  if (options.stand_for)
    text += fmt::format("{:<16} rank 0 of {} that are not there: nothing is sent\n", "stands for",
                        *options.stand_for);
  text += fmt::format("{:<16} {:.1f} ms, median of {} after {} ({:.1f} to {:.1f})\n", "step", spread.median,
                      options.steps, options.warmup, spread.least, spread.most);
  text += fmt::format("{:<16} {:.0f} tokens/s, {:.0f} a worker\n", "throughput", report.tokens_per_s(),
                      report.tokens_per_s() / options.num_workers);
  text += fmt::format("{:<16} {:.1f} TFLOP/s a worker, products and causal attention\n", "rate",
                      report.tflops_per_s());
  if (options.floor_ms) {
    text += fmt::format("{:<16} {:.3f} of the step; --floor {} ms\n", "floor",
                        *options.floor_ms / spread.median, *options.floor_ms);
  }
  if (const auto& power = report.power) {
    text += fmt::format(
        "{:<16} {:.0f} of {:.0f} W, {:.1f} J a step; clock {:.0f} of {:.0f} MHz{}\n", "power", power->watts,
        power->limit_watts, report.joules_per_step(), power->sm_clock_mhz, power->max_sm_clock_mhz,
        power->held_by.empty() ? "" : fmt::format(", held by: {}", fmt::join(power->held_by, ", ")));
  }
  text += fmt::format("{:<16} {:.2f} GiB\n", "peak memory",
                      static_cast<double>(report.peak_bytes) / static_cast<double>(int64_t{1} << 30));
  text += fmt::format("{:<16} {:.4f} after {} steps", "loss", report.loss, options.warmup + options.steps);
  if (report.kernels && !report.kernels->classes.empty()) text += '\n' + to_text(*report.kernels);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Json to_json(const TrainReport& report) {
  const TrainOptions& options = report.options;
  const Spread spread = Spread::of(report.step_ms);
  return {{"version", 1},
          {"lockstep", kVersion},
          {"commit", kCommit},
          {"model", options.model},
          {"parameters", report.parameters},
          {"device", report.device},
          {"num_workers", options.num_workers},
          {"stand_for", options.stand_for ? Json(*options.stand_for) : Json()},
          {"batch", options.batch},
          {"accumulation", report.accumulation},
          {"sequence_length", options.sequence_length},
          {"strategy", report.strategy},
          {"compute", report.compute},
          {"determinism", report.determinism},
          {"overrides", options.overrides},
          {"warmup", options.warmup},
          {"step_ms", {{"median", spread.median}, {"least", spread.least}, {"most", spread.most}}},
          {"steps_ms", report.step_ms},
          {"tokens_per_step", report.tokens_per_step()},
          {"tokens_per_s", report.tokens_per_s()},
          {"flops_per_token", report.flops_per_token},
          {"tflops_per_s", report.tflops_per_s()},
          {"floor_ms", or_null(options.floor_ms)},
          {"power", power_json(report)},
          {"peak_bytes", report.peak_bytes},
          {"loss", report.loss},
          {"kernels", report.kernels ? to_json(*report.kernels) : Json()}};
}

}  // namespace lockstep::bench
