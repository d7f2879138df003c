// Parts of a forward that keep their inputs alone, and are computed again in backward: memory for time (Chen
// et al., "Training deep nets with sublinear memory cost", 2016).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace lockstep::nn {

using Tensors = std::vector<at::Tensor>;

// body(inputs), whose tensors are freed at once. Backward calls `body` again, on the same inputs, and goes
// through it: what it captures must live until then and be as it was, and it must do the same both times, so
// nothing drawn at random. All tensors are defined. Costs the body's forward once more, about a third of a
// step where it is the whole block; gradients have the bits that they have without. Where no gradients are
// recorded it is body(inputs).
//
// Sharded modules inside (fsdp) are gathered for each of the two, as without for forward and for backward.
Tensors recomputed(std::function<Tensors(const Tensors&)> body, const Tensors& inputs);

// Whether this thread is in the first forward of a `recomputed`, which records no gradients though backward
// will come; for hooks that must know.
bool is_to_be_recomputed();

}  // namespace lockstep::nn
