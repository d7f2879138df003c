#include "lockstep/comm/ordered_sum_cuda.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "lockstep/base/check.h"
#include "lockstep/comm/ordered_sum_kernel.h"

namespace lockstep::comm {
namespace {

template <typename In, typename Out>
void sum(const at::Tensor& out, const at::Tensor& parts) {
  C10_CUDA_CHECK(launch_ordered_sum(
      static_cast<Out*>(out.mutable_data_ptr()), static_cast<const In*>(parts.const_data_ptr()),
      static_cast<int>(parts.size(0)), out.numel(), c10::cuda::getCurrentCUDAStream()));
}

template <typename Out>
void sum_floating(const at::Tensor& out, const at::Tensor& parts) {
  switch (parts.scalar_type()) {
    case at::kFloat:
      return sum<float, Out>(out, parts);
    case at::kBFloat16:
      return sum<__nv_bfloat16, Out>(out, parts);
    case at::kHalf:
      return sum<__half, Out>(out, parts);
    default:
      LOCKSTEP_CHECK(parts.dtype() == out.dtype()) << parts.dtype() << " into " << out.dtype();
  }
  sum<Out, Out>(out, parts);
}

}  // namespace

void ordered_sum_cuda(const at::Tensor& out, const at::Tensor& parts) {
  LOCKSTEP_CHECK(parts.dim() == 2 && parts.size(1) == out.numel())
      << parts.sizes() << " into " << out.sizes();
  LOCKSTEP_CHECK(parts.size(0) >= 1 && parts.size(0) <= kMaxOrderedParts) << parts.size(0) << " parts";
  LOCKSTEP_CHECK(out.is_contiguous() && parts.is_contiguous() && out.is_cuda() && parts.is_cuda());
  switch (out.scalar_type()) {
    case at::kFloat:
      return sum_floating<float>(out, parts);
    case at::kDouble:
      return sum_floating<double>(out, parts);
    case at::kLong:
      LOCKSTEP_CHECK(parts.scalar_type() == at::kLong) << parts.dtype() << " into " << out.dtype();
      return sum<int64_t, int64_t>(out, parts);
    default:
      LOCKSTEP_CHECK(false) << "sum of dtype " << out.dtype();
  }
}

}  // namespace lockstep::comm
