// Matrix products of a training step: out = op(a) op(b), optionally added to what out holds, or with a bias
// on every row, or with the sums of the rows of op(a) beside it; op transposes or not.
//
// On a GPU in bf16: cuBLASLt, asked once for each shape. A shape's second call times the library's
// suggestions on its own operands, some tens of milliseconds, and keeps the fastest; while torch is told to
// be deterministic (at::globalContext) the first suggestion stays, since another algorithm adds in another
// order. Elsewhere: at::mm and at::addmm. 2 m n k operations; bound by operations for all but narrow shapes.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace lockstep::kernels {

struct Operand {
  const at::Tensor& values;  // contiguous, two-dimensional
  bool transposed = false;
};

struct ProductOptions {
  bool accumulate = false;         // out += op(a) op(b)
  std::optional<at::Tensor> bias;  // [n], of out's type; not with `accumulate`
  // [m], of out's type, which gets the sum over k of op(a): with an output's gradient as `a` that of the
  // bias, read no second time. Not with `accumulate` or `bias`.
  std::optional<at::Tensor> row_sums = std::nullopt;
  bool recurs = true;  // the shape comes again and again, so that timing it pays
};

// op(a): [m, k], op(b): [k, n], out: [m, n], contiguous, of one type on one device: bfloat16, float32 or
// float64. An `out` in float32 takes operands in bfloat16 too, and is rounded to nothing else on the way.
// Nothing is recorded for autograd. Dispatched as the operator lockstep::product_.
void product(at::Tensor out, const Operand& a, const Operand& b, const ProductOptions& options = {});

}  // namespace lockstep::kernels
