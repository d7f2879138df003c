// Seeded first values of a model that is trained from nothing.
#pragma once

#include <cstdint>
#include <string>

#include "lockstep/nn/module.h"

namespace lockstep::models {

// Weights normal(0, standard_deviation), norms 1, biases 0. An element depends on the seed, its tensor's name
// and its index alone (counter-based random numbers, Philox 4x32), so any slice is made without the rest and
// sharding changes nothing.
class RandomWeights : public nn::WeightSource {
 public:
  RandomWeights(uint64_t seed, double standard_deviation)
      : seed_(seed), standard_deviation_(standard_deviation) {}

  void read(const std::string& name, int64_t offset, at::Tensor out) override;

 private:
  uint64_t seed_;
  double standard_deviation_;
};

}  // namespace lockstep::models
