// Whether cuDNN's fused attention is the kernel to take on a GPU. On Hopper and later it is the fastest
// that torch reaches; torch's flash kernel is the one beside it.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace lockstep::kernels {

// Why cuDNN does not take this causal attention, for people; empty: it does. query: [B, H, T, Dh]; key,
// value: [B, G, T, Dh]; without dropout and bias. Looks at shapes, strides, dtype and device, not at values;
// a few microseconds, no wait for the device.
//
// It refuses while torch's deterministic algorithms are on: cuDNN adds the queries' gradient in whatever
// order blocks come, and torch has no switch for its ordered way. Dispatched as the operator
// lockstep::cudnn_attention_refusal.
std::string cudnn_attention_refusal(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value);

}  // namespace lockstep::kernels
