// The GPU's side of the operator lockstep::add_product_ (kernels/add_product.cpp checks the operands).
#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAGuard.h>
#include <cublas_v2.h>
#include <torch/library.h>

#include "lockstep/base/check.h"

namespace lockstep::kernels {
namespace {

void add_product_cuda(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != at::kBFloat16) {
    sum.addmm_(a.t(), b);
    return;
  }
  const c10::cuda::CUDAGuard guard(a.device());
  const auto k = static_cast<int>(a.size(0)), m = static_cast<int>(a.size(1)),
             n = static_cast<int>(b.size(1));
  if (k == 0) return;
  const float one = 1;
  // cuBLAS counts along columns first, so it is told of sum^T [N, M] += b^T [N, K] a [K, M]. The handle is
  // torch's, on the current stream.
  const cublasStatus_t status =
      cublasGemmEx(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_N, CUBLAS_OP_T, n, m, k, &one,
                   b.const_data_ptr(), CUDA_R_16BF, n, a.const_data_ptr(), CUDA_R_16BF, m, &one,
                   sum.mutable_data_ptr(), CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  LOCKSTEP_CHECK(status == CUBLAS_STATUS_SUCCESS)
      << "cublasGemmEx: " << cublasGetStatusString(status) << " for m " << m << ", n " << n << ", k " << k;
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) {
  library.impl("add_product_", &lockstep::kernels::add_product_cuda);
}
