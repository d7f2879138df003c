// Rows of a table by their indices, and the table's gradient.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::nn {

// weight: [V, D]; indices: [...] int64 -> [..., D]. The weight's gradient has the same bits in every run
// (kernels/add_rows.h). Where another part of it lies in its home already, as that of a head which shares the
// weight does, the rows are added there and no gradient is passed on; else it is a tensor of the weight's
// sizes.
at::Tensor embed(const at::Tensor& weight, const at::Tensor& indices);

}  // namespace lockstep::nn
