// Which fused attention a GPU takes. On Hopper and later cuDNN's is the fastest that torch reaches; torch's
// flash kernel is the one beside it, and the one for rows of several documents.
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

// Whether torch's flash kernel takes rows of documents (at::_flash_attention_forward with their first tokens)
// in heads of `head_dim` channels, in the dtype and on the device of `x`. Dispatched as the operator
// lockstep::flash_takes_documents.
bool flash_takes_documents(const at::Tensor& x, int64_t head_dim);

}  // namespace lockstep::kernels
