// Tensors that lie next to each other in one memory, taken as one tensor over that memory: what is done to
// all of them is then done in one kernel, and nothing is copied together for it.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace lockstep::kernels {

// parts: [n_i, ...], contiguous, each beginning where the one before ends -> [sum of n_i, ...]. Nothing where
// they lie elsewhere.
std::optional<at::Tensor> joined_rows(at::TensorList parts);

// parts: [..., n_i], which are the columns of a contiguous tensor [..., sum of n_i], in order -> that tensor.
// Nothing where they are not.
std::optional<at::Tensor> joined_columns(at::TensorList parts);

// Fresh memory for tensors of the parts' sizes: columns of one tensor where the parts are, else contiguous.
std::vector<at::Tensor> empty_columns_like(at::TensorList parts);

}  // namespace lockstep::kernels
