// One AdamW update of one flat tensor, in place (Loshchilov and Hutter, "Decoupled Weight
// Decay Regularization", 2019). With t = `step`, counted from 1:
//
//   g <- g * grad_scale            not stored: this is where gradients are clipped
//   m <- m + (1 - beta1) * (g - m)
//   v <- beta2 * v + (1 - beta2) * g^2
//   p <- p * (1 - lr * weight_decay) - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
//
// One pass over memory: 28 bytes an element in float32 (p, m, v read and written, g read), 26 with g in
// bfloat16, 14 with p, m and v in bfloat16 too, on CPU split over torch's threads. An element's result
// depends on that element alone, to the bit: not on its place, the threads, the size of the tensor, or the
// device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::kernels {

struct AdamWScalars {
  double lr, beta1, beta2, eps, weight_decay;
  int64_t step;  // of this update, from 1
  double grad_scale = 1;
};

// p, m, v: [S], contiguous, all of one type, float64, float32 or bfloat16, on one device; g alike, and may be
// bfloat16 beside float32 and float32 beside bfloat16. What is bfloat16 is computed in float32, and p, m and
// v are rounded to the nearest as they are stored: an update below half of the spacing of p's values is lost,
// which is lr < |p| / 512 or so. Nothing is recorded for autograd. Raises p's version, so that whoever caches
// what follows from it notices. `copy`, where defined: [S] bfloat16, which p's new values are rounded to in
// the same pass (2 bytes an element). Dispatched as the operator lockstep::adamw_.
void adamw(at::Tensor p, at::Tensor m, at::Tensor v, const at::Tensor& g, const AdamWScalars& scalars,
           const at::Tensor& copy = {});

}  // namespace lockstep::kernels
