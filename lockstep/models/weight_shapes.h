// The tensors that a model's files hold.
#pragma once

#include <string>
#include <vector>

#include "lockstep/models/config.h"

namespace lockstep::models {

struct WeightShape {
  std::string name;  // Hugging Face's
  std::vector<int64_t> shape;
};

// Each once (a tied head is the embedding), in ascending byte order of names: the order of exported
// files and of weights_sha256.
std::vector<WeightShape> weight_shapes(const ModelSpec& spec);

}  // namespace lockstep::models
