#include "lockstep/models/random_weights.h"

#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "lockstep/base/sha256.h"

namespace lockstep::models {
namespace {

// One stream of random numbers a tensor.
uint64_t stream_of(const std::string& name) {
  return std::stoull(sha256_hex(name).substr(0, 16), nullptr, 16);
}

// Two independent standard normals from two random words (Box and Muller, 1958).
void normal_pair(uint32_t first, uint32_t second, double* out) {
  constexpr double kScale = 1.0 / 4294967296.0;  // 2^-32
  const double radius = std::sqrt(-2.0 * std::log((first + 1.0) * kScale));
  const double angle = 2.0 * std::numbers::pi * second * kScale;
  out[0] = radius * std::cos(angle);
  out[1] = radius * std::sin(angle);
}

// Elements [offset, offset + out.size()) of the tensor's stream; block b of four words makes
// elements 4b .. 4b + 3.
void fill_normal(uint64_t seed, uint64_t stream, int64_t offset, double deviation, std::span<float> out) {
  constexpr int64_t kBlock = 4;
  const int64_t end = offset + static_cast<int64_t>(out.size());
  for (int64_t block = offset / kBlock; block * kBlock < end; ++block) {
    at::Philox4_32 words(seed, stream, static_cast<uint64_t>(block));
    double normals[kBlock];
    for (int64_t pair = 0; pair < kBlock; pair += 2) {
      const uint32_t first = words();
      normal_pair(first, words(), normals + pair);
    }
    for (int64_t i = std::max(offset, block * kBlock); i < std::min(end, (block + 1) * kBlock); ++i) {
      out[static_cast<size_t>(i - offset)] = static_cast<float>(deviation * normals[i % kBlock]);
    }
  }
}

}  // namespace

void RandomWeights::read(const std::string& name, int64_t offset, at::Tensor out) {
  if (name.ends_with("norm.weight")) {
    out.fill_(1);
  } else if (name.ends_with(".bias")) {
    out.zero_();
  } else {
    constexpr int64_t kPiece = int64_t{1} << 20;  // elements
    std::vector<float> values(static_cast<size_t>(std::min(kPiece, out.numel())));
    for (int64_t done = 0; done < out.numel(); done += kPiece) {
      const int64_t count = std::min(kPiece, out.numel() - done);
      fill_normal(seed_, stream_of(name), offset + done, standard_deviation_,
                  std::span(values).first(static_cast<size_t>(count)));
      out.narrow(0, done, count).copy_(at::from_blob(values.data(), {count}, at::kFloat));
    }
  }
}

}  // namespace lockstep::models
