#include "lockstep/bench/repeated_weights.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <random>

namespace lockstep::bench {
namespace {

constexpr size_t kLength = 1'000'003;

}  // namespace

RepeatedWeights::RepeatedWeights(double standard_deviation) : values_(kLength) {
  std::mt19937_64 random(0);
  std::normal_distribution<float> normal(0, static_cast<float>(standard_deviation));
  for (float& value : values_) value = normal(random);
}

void RepeatedWeights::read(const std::string& name, int64_t offset, at::Tensor out) {
  if (name.ends_with("norm.weight")) {
    out.fill_(1);
    return;
  }
  if (name.ends_with(".bias")) {
    out.zero_();
    return;
  }
  const auto length = static_cast<int64_t>(values_.size());
  for (int64_t done = 0; done < out.numel();) {
    const int64_t from = (offset + done) % length;
    const int64_t count = std::min(length - from, out.numel() - done);
    out.narrow(0, done, count).copy_(at::from_blob(values_.data() + from, {count}, at::kFloat));
    done += count;
  }
}

}  // namespace lockstep::bench
