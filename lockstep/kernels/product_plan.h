// How cuBLASLt multiplies matrices of one shape, found once and then used again.
#pragma once

#include <cublasLt.h>

#include <compare>
#include <cstdint>

namespace lockstep::kernels {

// out[m, n] = op(a) op(b), all contiguous along their last dim.
struct ProductShape {
  int device = 0;
  int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false, b_transposed = false, accumulate = false, with_bias = false;
  bool with_row_sums = false;
  bool wide_out = false;  // out in float32, else bf16 like a and b
  // Bytes that the addresses are multiples of, 256 at most: kernels for wide accesses need them.
  uint32_t a_alignment = 0, b_alignment = 0, out_alignment = 0;
  auto operator<=>(const ProductShape&) const = default;
};

struct ProductOperands {
  const void* a;
  const void* b;
  void* out;
  const void* bias;  // null without
  void* row_sums;    // null without
};

struct Workspace {
  void* begin;
  size_t bytes;
};

// Layouts and algorithm for one shape. cuBLASLt counts along columns first, so it is told of out^T = op(b)^T
// op(a)^T.
class ProductPlan {
 public:
  explicit ProductPlan(const ProductShape& shape);
  ~ProductPlan();
  ProductPlan(const ProductPlan&) = delete;
  ProductPlan& operator=(const ProductPlan&) = delete;

  // The library's first suggestion. False: it has none for this shape.
  bool suggest(cublasLtHandle_t handle, const ProductOperands& operands, size_t workspace_bytes);
  // After `suggest`: the fastest of several suggestions on these operands; `scratch`, as large as out, is
  // written instead of it.
  void tune(cublasLtHandle_t handle, ProductOperands operands, void* scratch, Workspace workspace,
            cudaStream_t stream);
  cublasStatus_t run(cublasLtHandle_t handle, const ProductOperands& operands, Workspace workspace,
                     cudaStream_t stream) const;

 private:
  struct Descriptor;
  int suggestions(cublasLtHandle_t handle, size_t workspace_bytes, int count, const ProductOperands& operands,
                  cublasLtMatmulHeuristicResult_t* results) const;
  float time_ms(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm,
                const ProductOperands& operands, Workspace workspace, cudaStream_t stream) const;
  cublasStatus_t run_with(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm,
                          const ProductOperands& operands, Workspace workspace, cudaStream_t stream) const;

  ProductShape shape_;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, out_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace lockstep::kernels
