#include "lockstep/nn/shared_input.h"

namespace lockstep::nn {
namespace {

// `body` within the hooks of layers[from] and all after it.
template <typename Body>
std::vector<at::Tensor> hooked(const std::vector<Linear>& layers, size_t from, const Body& body) {
  if (from == layers.size()) return body();
  Linear layer = layers[from];  // a holder: the same layer
  return layer->hooked([&] { return hooked(layers, from + 1, body); });
}

}  // namespace

std::vector<at::Tensor> linear_each(const at::Tensor& x, const std::vector<Linear>& layers,
                                    const std::optional<MadeAgain>& again) {
  return hooked(layers, 0, [&] {
    std::vector<at::Tensor> weights, biases;
    for (const Linear& layer : layers) {
      weights.push_back(layer->weight);
      if (layer->bias.defined()) biases.push_back(layer->bias);
    }
    return linears(x, weights, biases, again);
  });
}

}  // namespace lockstep::nn
