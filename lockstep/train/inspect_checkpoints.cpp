#include "lockstep/train/inspect_checkpoints.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "lockstep/base/byte_size.h"
#include "lockstep/base/error.h"
#include "lockstep/checkpoint/damaged.h"
#include "lockstep/checkpoint/fetch_state.h"
#include "lockstep/checkpoint/survey.h"
#include "lockstep/train/checkpoint_place.h"

namespace lockstep::train {
namespace {

using checkpoint::CheckpointId;
using checkpoint::Manifest;

Json line_of(const CheckpointId& id, const char* status) {
  return {{"step", id.step},
          {"generation", id.generation},
          {"folder", checkpoint::folder_name(id)},
          {"status", status}};
}

Json line_of(const Manifest& manifest, const char* status) {
  Json line = line_of(manifest.id, status);
  line["bytes"] = manifest.num_bytes();
  line["ranks"] = manifest.world_size;
  line["time"] = manifest.time;
  line["loss"] = manifest.metrics.value("loss", Json());
  line["held_out_loss"] = manifest.metrics.value("held_out_loss", Json());
  return line;
}

void require_some(const Json& lines, const std::string& run, std::optional<int64_t> step) {
  if (!lines.empty()) return;
  throw ConfigError(
      fmt::format("checkpoints: {} has no checkpoint{}; lockstep checkpoints list {} shows what it has", run,
                  step ? fmt::format(" of step {}", *step) : "", run));
}

std::string cell(const std::string& key, const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_array()) {
    std::string text;
    for (const Json& item : value) text += (text.empty() ? "" : "; ") + item.get<std::string>();
    return text.empty() ? "-" : text;
  }
  if (key == "bytes") return format_bytes(value.get<int64_t>());
  if (value.is_number_float()) return fmt::format("{:.4f}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Json list_checkpoints(const std::string& run) {
  const auto store = open_checkpoint_store(run);
  const checkpoint::Survey found = checkpoint::survey(*store);
  Json lines = Json::array();
  for (const Manifest& manifest : found.committed) lines.push_back(line_of(manifest, "committed"));
  for (const auto& damaged : found.damaged) lines.push_back(line_of(damaged.id, "damaged"));
  for (const CheckpointId& id : found.foreign) lines.push_back(line_of(id, "not this run's"));
  for (const CheckpointId& id : found.unfinished) lines.push_back(line_of(id, "unfinished"));
  std::stable_sort(lines.begin(), lines.end(), [](const Json& a, const Json& b) {
    return a.at("step").get<int64_t>() > b.at("step").get<int64_t>();
  });
  return lines;
}

Json verify_checkpoints(const std::string& run, std::optional<int64_t> step) {
  const auto store = open_checkpoint_store(run);
  const checkpoint::Survey found = checkpoint::survey(*store);
  Json lines = Json::array();
  for (const auto& damaged : found.damaged) {
    if (step && damaged.id.step != *step) continue;
    lines.push_back(line_of(damaged.id, "damaged"));
    lines.back()["problems"] = {damaged.reason};
  }
  for (const Manifest& manifest : found.committed) {
    if (step && manifest.id.step != *step) continue;
    Json problems = Json::array();
    for (const auto& shard : manifest.shards) {
      try {
        checkpoint::verify_shard(*store, manifest, shard);
      } catch (const checkpoint::DamagedError& error) {
        problems.push_back(error.what());
      }
    }
    lines.push_back(line_of(manifest.id, problems.empty() ? "whole" : "damaged"));
    lines.back()["bytes"] = manifest.num_bytes();
    lines.back()["problems"] = problems;
  }
  require_some(lines, run, step);
  return lines;
}

Json show_checkpoint(const std::string& run, std::optional<int64_t> step) {
  const auto store = open_checkpoint_store(run);
  for (const Manifest& manifest : checkpoint::survey(*store).committed) {
    if (step && manifest.id.step != *step) continue;
    Json result = line_of(manifest, "committed");
    result["identity"] = manifest.identity;
    result["state"] = manifest.state;
    Json shards = Json::array();
    std::map<std::string, checkpoint::TensorInfo> tensors;
    for (const auto& shard : manifest.shards) {
      shards.push_back({{"file", shard.file}, {"bytes", shard.num_bytes}, {"sha256", shard.sha256}});
      for (const auto& tensor : shard.tensors) tensors.emplace(tensor.name, tensor);
    }
    result["shards"] = shards;
    for (const auto& [name, tensor] : tensors) {
      result["tensors"][name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}};
    }
    return result;
  }
  require_some(Json::array(), run, step);
  return {};
}

std::string to_table(const Json& rows) {
  if (rows.empty()) return "";
  std::vector<std::string> keys;
  for (const Json& row : rows) {
    for (const auto& [key, value] : row.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  std::vector<size_t> widths;
  for (const std::string& key : keys) {
    size_t width = key.size();
    for (const Json& row : rows) width = std::max(width, cell(key, row.value(key, Json())).size());
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < keys.size(); ++i) line += fmt::format("{:<{}}  ", cell_of(keys[i]), widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  add_line([](const std::string& key) { return key; });
  for (const Json& row : rows) {
    add_line([&](const std::string& key) { return cell(key, row.value(key, Json())); });
  }
  return text;
}

}  // namespace lockstep::train
