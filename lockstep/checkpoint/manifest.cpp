#include "lockstep/checkpoint/manifest.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "lockstep/base/element_bytes.h"
#include "lockstep/checkpoint/damaged.h"
#include "lockstep/checkpoint/sealed_json.h"

namespace lockstep::checkpoint {
namespace {

constexpr const char* kFormat = "lockstep-checkpoint";
constexpr int kVersion = 1;

struct Run {
  int64_t offset, length;
};

void check_slice(const ShardInfo& shard, const StoredSlice& slice, const std::string& origin) {
  const auto refuse = [&](const std::string& what) {
    throw DamagedError(fmt::format("{}: a slice of {} {}", origin, shard.file, what));
  };
  if (slice.tensor >= shard.tensors.size()) refuse("is of no tensor");
  const TensorInfo& tensor = shard.tensors[slice.tensor];
  const int64_t numel = tensor.numel();
  if (slice.offset < 0 || slice.length < 0 || slice.offset > numel || slice.length > numel - slice.offset) {
    refuse(fmt::format("lies outside {}", tensor.name));
  }
  if (slice.position < 0 || slice.position > shard.num_bytes ||
      slice.length > (shard.num_bytes - slice.position) / element_bytes(tensor.dtype)) {
    refuse(fmt::format("of {} lies outside the file", tensor.name));
  }
}

// As safetensors has it: no two slices of a file share a byte.
void check_positions(const ShardInfo& shard, const std::string& origin) {
  std::vector<Run> runs;
  for (const StoredSlice& slice : shard.slices) {
    const int64_t num_bytes = slice.length * element_bytes(shard.tensors[slice.tensor].dtype);
    if (num_bytes > 0) runs.push_back({slice.position, num_bytes});
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.offset < b.offset; });
  for (size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].offset < runs[i - 1].offset + runs[i - 1].length) {
      throw DamagedError(
          fmt::format("{}: two slices of {} share its byte {}", origin, shard.file, runs[i].offset));
    }
  }
}

// Every element of every tensor once, however the ranks divided them.
void check_coverage(const Manifest& manifest, const std::string& origin) {
  std::map<std::string, std::pair<TensorInfo, std::vector<Run>>> tensors;
  for (const ShardInfo& shard : manifest.shards) {
    for (const StoredSlice& slice : shard.slices) {
      check_slice(shard, slice, origin);
      const TensorInfo& tensor = shard.tensors[slice.tensor];
      auto& [info, runs] = tensors.try_emplace(tensor.name, tensor, std::vector<Run>{}).first->second;
      if (info != tensor) throw DamagedError(fmt::format("{}: two shapes for {}", origin, tensor.name));
      if (slice.length > 0) runs.push_back({slice.offset, slice.length});
    }
    check_positions(shard, origin);
  }
  for (auto& [name, entry] : tensors) {
    auto& [info, runs] = entry;
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.offset < b.offset; });
    int64_t next = 0;
    for (const Run& run : runs) {
      if (run.offset != next) {
        throw DamagedError(fmt::format("{}: elements of {} are {} at {}", origin, name,
                                       run.offset > next ? "missing" : "there twice", next));
      }
      next += run.length;
    }
    if (next != info.numel()) throw DamagedError(fmt::format("{}: {} ends at {}", origin, name, next));
  }
}

Json body_of(const Manifest& manifest) {
  Json shards = Json::array();
  for (const ShardInfo& shard : manifest.shards) shards.push_back(shard.to_json());
  return {{"format", kFormat},
          {"version", kVersion},
          {"step", manifest.id.step},
          {"generation", manifest.id.generation},
          {"token", manifest.token},
          {"time", manifest.time},
          {"world_size", manifest.world_size},
          {"identity", manifest.identity},
          {"state", manifest.state},
          {"metrics", manifest.metrics},
          {"shards", shards}};
}

}  // namespace

int64_t TensorInfo::numel() const {
  int64_t product = 1;
  for (const int64_t size : shape) product *= size;
  return product;
}

int64_t Manifest::num_bytes() const {
  int64_t total = 0;
  for (const ShardInfo& shard : shards) total += shard.num_bytes;
  return total;
}

std::optional<double> Manifest::held_out_loss() const {
  const Json loss = metrics.value("held_out_loss", Json());
  return loss.is_number() ? std::optional(loss.get<double>()) : std::nullopt;
}

Json ShardInfo::to_json() const {
  Json named = Json::array(), stored = Json::array();
  for (const TensorInfo& tensor : tensors) {
    named.push_back({{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", tensor.shape}});
  }
  for (const StoredSlice& slice : slices) {
    stored.push_back({slice.tensor, slice.offset, slice.length, slice.position});
  }
  return {{"file", file}, {"bytes", num_bytes}, {"sha256", sha256}, {"tensors", named}, {"slices", stored}};
}

ShardInfo ShardInfo::from_json(const Json& json) {
  ShardInfo shard;
  shard.file = json.at("file").get<std::string>();
  shard.num_bytes = json.at("bytes").get<int64_t>();
  if (shard.num_bytes < 0 || shard.num_bytes == std::numeric_limits<int64_t>::max()) {
    throw DamagedError(fmt::format("{} has an impossible size", shard.file));
  }
  shard.sha256 = json.at("sha256").get<std::string>();
  for (const Json& tensor : json.at("tensors")) {
    shard.tensors.push_back({tensor.at("name").get<std::string>(), tensor.at("dtype").get<std::string>(),
                             tensor.at("shape").get<std::vector<int64_t>>()});
    const TensorInfo& info = shard.tensors.back();
    int64_t numel = element_bytes(info.dtype);
    if (numel == 0) throw DamagedError(fmt::format("{} has the unknown dtype {}", info.name, info.dtype));
    for (const int64_t size : info.shape) {
      if (size < 0 || __builtin_mul_overflow(numel, size, &numel)) {
        throw DamagedError(fmt::format("{} has an impossible shape", info.name));
      }
    }
  }
  for (const Json& slice : json.at("slices")) {
    shard.slices.push_back({slice.at(0).get<size_t>(), slice.at(1).get<int64_t>(), slice.at(2).get<int64_t>(),
                            slice.at(3).get<int64_t>()});
  }
  return shard;
}

std::string to_bytes(const Manifest& manifest) { return seal(body_of(manifest)); }

Manifest parse_manifest(std::span<const std::byte> bytes, const std::string& origin) {
  const Json body = unseal(bytes, origin);
  Manifest manifest;
  try {
    if (body.at("format") != kFormat)
      throw DamagedError(fmt::format("{} is no checkpoint's manifest", origin));
    if (body.at("version") != kVersion) {
      throw DamagedError(
          fmt::format("{} has version {}; this program reads version {}: use the one that wrote it", origin,
                      body.at("version").dump(), kVersion));
    }
    manifest.id = {body.at("step").get<int64_t>(), body.at("generation").get<int>()};
    manifest.token = body.at("token").get<std::string>();
    manifest.time = body.at("time").get<std::string>();
    manifest.world_size = body.at("world_size").get<int>();
    manifest.identity = body.at("identity");
    manifest.state = body.at("state");
    manifest.metrics = body.at("metrics");
    for (const Json& shard : body.at("shards")) manifest.shards.push_back(ShardInfo::from_json(shard));
  } catch (const Json::exception& error) {
    throw DamagedError(fmt::format("{} lacks what a manifest has: {}", origin, error.what()));
  }
  check_coverage(manifest, origin);
  return manifest;
}

}  // namespace lockstep::checkpoint
