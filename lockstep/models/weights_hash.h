// weights_sha256: one hash that says whether two models have the same weights, whatever way each is
// sharded, stored or merged. The rule, byte for byte, is in docs/models.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lockstep/base/sha256.h"

namespace lockstep::models {

// For each tensor in ascending order of names (models::weight_shapes): start, then its values in order, in
// pieces of any size.
class WeightsHash {
 public:
  // CHECKs that `name` comes after the one before.
  void start(const std::string& name);
  void append(std::span<const float> values);
  // 64 lower-case hex digits over everything so far; ends the last tensor.
  std::string finish();

 private:
  void end_block();

  std::string name_;
  Sha256 list_;                  // of the text: names and the hashes of their blocks
  std::optional<Sha256> block_;  // of the values since the last whole block; absent: none
  int64_t block_values_ = 0;
};

}  // namespace lockstep::models
