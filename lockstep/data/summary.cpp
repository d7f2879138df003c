#include "lockstep/data/summary.h"

#include <fmt/format.h>

namespace lockstep::data {
namespace {

void append_split(std::vector<std::string>& lines, const char* name, const SplitSummary& split,
                  int64_t row_length) {
  const auto& counts = split.counts;
  lines.push_back(fmt::format(
      "data: {}: {} samples, {} rows of {} tokens, {} tokens, {} of them trained, {:.1f}% padding", name,
      counts.samples, split.rows, row_length, counts.tokens, counts.trained_tokens,
      100 * split.padding_share));
  for (const auto& [reason, samples] : counts.dropped) {
    lines.push_back(fmt::format("data: {}: dropped {} samples: {}", name, samples, reason));
  }
  if (counts.truncated_samples > 0) {
    lines.push_back(fmt::format("data: {}: truncated {} samples to sequence_length, losing {} tokens", name,
                                counts.truncated_samples, counts.truncated_tokens));
  }
  if (counts.cut_samples > 0) {
    lines.push_back(fmt::format("data: {}: cut {} samples into several pieces", name, counts.cut_samples));
  }
}

std::string steps_line(int64_t steps, int64_t global_batch, int64_t rows_per_epoch) {
  const int64_t rows = steps * global_batch;
  return fmt::format("data: {} steps of {} rows: {} whole epochs and {} rows of the next; no step is short",
                     steps, global_batch, rows / rows_per_epoch, rows % rows_per_epoch);
}

}  // namespace

Json SplitSummary::to_json() const {
  return {{"samples", counts.samples},
          {"rows", rows},
          {"tokens", counts.tokens},
          {"trained_tokens", counts.trained_tokens},
          {"padding_share", padding_share},
          {"cut_samples", counts.cut_samples},
          {"truncated_samples", counts.truncated_samples},
          {"truncated_tokens", counts.truncated_tokens},
          {"dropped", Json(counts.dropped)}};
}

Json DataSummary::to_json() const {
  Json json = {{"sequence_length", sequence_length}, {"steps", steps}, {"global_batch", global_batch}};
  json["files"] = Json::array();
  for (const auto& file : files) {
    json["files"].push_back(
        {{"path", file.path}, {"sha256", file.sha256}, {"bytes", file.bytes}, {"records", file.records}});
  }
  if (train) json["train"] = train->to_json();
  if (held_out) json["held_out"] = held_out->to_json();
  return json;
}

std::vector<std::string> DataSummary::to_lines() const {
  std::vector<std::string> lines;
  for (const auto& file : files) {
    lines.push_back(fmt::format("data: {}: {} records, sha256 {}", file.path, file.records, file.sha256));
  }
  if (!train) lines.push_back(fmt::format("data: seeded random tokens in rows of {}", sequence_length));
  if (train) {
    append_split(lines, "train", *train, sequence_length);
    lines.push_back(steps_line(steps, global_batch, train->rows));
  }
  if (held_out) append_split(lines, "held out", *held_out, sequence_length);
  return lines;
}

}  // namespace lockstep::data
