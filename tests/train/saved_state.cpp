#include "tests/train/saved_state.h"

#include <c10/util/BFloat16.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lockstep/checkpoint/fetch_state.h"
#include "lockstep/checkpoint/survey.h"

namespace lockstep::train::testing {
namespace {

template <typename T>
std::vector<double> to_doubles(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return {values.begin(), values.end()};
}

}  // namespace

std::map<std::string, std::vector<double>> newest_state(const std::string& run_dir) {
  const auto store = storage::open_store(run_dir);
  const auto manifest = checkpoint::survey(*store).committed.at(0);
  std::map<std::string, checkpoint::TensorInfo> tensors;
  for (const auto& shard : manifest.shards) {
    for (const auto& tensor : shard.tensors) tensors.emplace(tensor.name, tensor);
  }
  std::map<std::string, std::vector<std::byte>> bytes;
  std::vector<checkpoint::Target> targets;
  for (const auto& [name, tensor] : tensors) {
    const checkpoint::Slice whole{tensor, 0, tensor.numel()};
    bytes[name].resize(static_cast<size_t>(whole.num_bytes()));
    targets.push_back({whole, bytes[name]});
  }
  checkpoint::fetch_state(*store, manifest, targets);
  std::map<std::string, std::vector<double>> state;
  for (const auto& [name, tensor] : tensors) {
    state[name] = tensor.dtype == "F64"    ? to_doubles<double>(bytes[name])
                  : tensor.dtype == "BF16" ? to_doubles<c10::BFloat16>(bytes[name])
                                           : to_doubles<float>(bytes[name]);
  }
  return state;
}

double largest_difference(const std::map<std::string, std::vector<double>>& a,
                          const std::map<std::string, std::vector<double>>& b) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return kInfinite;
  double largest = 0;
  for (const auto& [name, values] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.size() != values.size()) return kInfinite;
    double scale = 0, difference = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      scale = std::max(scale, std::abs(values[i]));
      difference = std::max(difference, std::abs(values[i] - other->second[i]));
    }
    if (difference > 0) largest = std::max(largest, difference / scale);
  }
  return largest;
}

std::vector<int64_t> checkpoint_steps(const std::string& run_dir) {
  std::vector<int64_t> steps;
  for (const auto& manifest : checkpoint::survey(*storage::open_store(run_dir)).committed) {
    steps.push_back(manifest.id.step);
  }
  return steps;
}

std::vector<std::string> newest_hashes(const std::string& run_dir) {
  std::vector<std::string> hashes;
  const auto found = checkpoint::survey(*storage::open_store(run_dir));
  for (const auto& shard : found.committed.at(0).shards) hashes.push_back(shard.sha256);
  return hashes;
}

}  // namespace lockstep::train::testing
