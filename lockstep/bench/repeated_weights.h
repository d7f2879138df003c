// Values for a model of which only the speed is asked.
#pragma once

#include <string>
#include <vector>

#include "lockstep/nn/module.h"

namespace lockstep::bench {

// As models::RandomWeights (norms 1, biases 0, the rest normal), but from one list of numbers over and over,
// so that a model of billions of parameters is there in seconds. The list's length is prime, so rows differ.
class RepeatedWeights : public nn::WeightSource {
 public:
  explicit RepeatedWeights(double standard_deviation);
  void read(const std::string& name, int64_t offset, at::Tensor out) override;

 private:
  std::vector<float> values_;
};

}  // namespace lockstep::bench
