// Keys and values of the tokens seen so far, so that generation computes each token once.
// B rows, G key-value heads, S tokens seen, Dh channels a head.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep::models {

class KeyValueCache {
 public:
  // Room for `capacity` tokens a row; a layer's memory is taken when it first appends.
  KeyValueCache(int64_t num_layers, int64_t capacity);

  // Adds keys and values [B, G, T, Dh] of the next T tokens of a layer and returns views of all so
  // far, [B, G, S, Dh] each. CHECKs that they fit.
  std::pair<at::Tensor, at::Tensor> append(int64_t layer, const at::Tensor& keys, const at::Tensor& values);

  // Tokens that every layer has seen.
  int64_t length() const { return layers_.back().length; }

 private:
  struct Layer {
    at::Tensor keys, values;  // [B, G, capacity, Dh]
    int64_t length = 0;
  };
  std::vector<Layer> layers_;
  int64_t capacity_;
};

}  // namespace lockstep::models
