// The GPU's side of the operator lockstep::product_ (kernels/product.cpp checks the operands).
#include <ATen/Context.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "lockstep/base/check.h"
#include "lockstep/kernels/product_by_torch.h"
#include "lockstep/kernels/product_plan.h"

namespace lockstep::kernels {
namespace {

uint32_t alignment_of(const at::Tensor& x) {
  const auto address = reinterpret_cast<uintptr_t>(x.const_data_ptr());
  return static_cast<uint32_t>(std::min<uintptr_t>(256, address & -address));
}

constexpr size_t kWorkspaceBytes = 32 << 20;  // what cuBLAS's guide advises for Hopper

// One for each stream, whose products follow each other. torch has one too, but reads its size from the
// environment with a regular expression at every call: 60 to 200 µs.
Workspace workspace_of(cudaStream_t stream, c10::Device device) {
  static std::mutex mutex;
  static auto* const all = new std::map<std::pair<int, cudaStream_t>, at::Tensor>;
  const std::lock_guard lock(mutex);
  at::Tensor& memory = (*all)[{device.index(), stream}];
  if (!memory.defined())
    memory = at::empty({kWorkspaceBytes}, at::TensorOptions().dtype(at::kByte).device(device));
  return {memory.mutable_data_ptr(), kWorkspaceBytes};
}

struct KnownPlan {
  std::unique_ptr<ProductPlan> plan;  // null: cuBLASLt has no algorithm for the shape
  bool settled = false;               // not worth timing, or timed
};

// By shape, and by whether bits must repeat. Never destroyed: CUDA may be gone before.
std::map<ProductShape, KnownPlan>& plans(bool deterministic) {
  static auto* const all = new std::map<ProductShape, KnownPlan>[2];
  return all[deterministic ? 1 : 0];
}

struct Call {
  ProductShape shape;
  ProductOperands operands;
  cublasLtHandle_t handle;
  Workspace workspace;
  cudaStream_t stream;
};

// Into a CUDA graph: nothing may be waited for.
bool is_recorded(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

const ProductPlan* plan_for(const Call& call, const at::Tensor& out, bool recurs) {
  static std::mutex mutex;
  const bool deterministic = at::globalContext().deterministicAlgorithms();
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = plans(deterministic).try_emplace(call.shape);
  KnownPlan& known = entry->second;
  if (is_new) {
    known.plan = std::make_unique<ProductPlan>(call.shape);
    if (!known.plan->suggest(call.handle, call.operands, call.workspace.bytes)) known.plan.reset();
    known.settled = deterministic || !recurs || !known.plan;
  } else if (!known.settled && !is_recorded(call.stream)) {
    const at::Tensor scratch = call.shape.accumulate ? out.clone() : at::empty_like(out);
    known.plan->tune(call.handle, call.operands, scratch.mutable_data_ptr(), call.workspace, call.stream);
    known.settled = true;
  }
  return known.plan.get();
}

void product_cuda(at::Tensor& out, const at::Tensor& a, bool a_transposed, const at::Tensor& b,
                  bool b_transposed, bool accumulate, const std::optional<at::Tensor>& given_bias,
                  const std::optional<at::Tensor>& row_sums, bool recurs) {
  const c10::cuda::CUDAGuard guard(out.device());
  // Its kernels read a bias 16 bytes at a time.
  const auto bias = given_bias && alignment_of(*given_bias) < 16 ? given_bias->clone() : given_bias;
  const auto sums = row_sums && alignment_of(*row_sums) < 16 ? at::empty_like(*row_sums) : row_sums;
  const at::Tensor left = a_transposed ? a.t() : a, right = b_transposed ? b.t() : b;
  const bool wide_out = out.scalar_type() != a.scalar_type();
  if (a.scalar_type() == at::kBFloat16 && a.numel() > 0 && b.numel() > 0) {
    const ProductShape shape{.device = out.get_device(),
                             .m = out.size(0),
                             .n = out.size(1),
                             .k = left.size(1),
                             .a_transposed = a_transposed,
                             .b_transposed = b_transposed,
                             .accumulate = accumulate,
                             .with_bias = bias.has_value(),
                             .with_row_sums = sums.has_value(),
                             .wide_out = wide_out,
                             .a_alignment = alignment_of(a),
                             .b_alignment = alignment_of(b),
                             .out_alignment = alignment_of(out)};
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    const Call call{shape,
                    {a.const_data_ptr(), b.const_data_ptr(), out.mutable_data_ptr(),
                     bias ? bias->const_data_ptr() : nullptr, sums ? sums->mutable_data_ptr() : nullptr},
                    at::cuda::getCurrentCUDABlasLtHandle(),
                    workspace_of(stream, out.device()),
                    stream};
    if (const ProductPlan* plan = plan_for(call, out, recurs)) {
      const cublasStatus_t status = plan->run(call.handle, call.operands, call.workspace, call.stream);
      LOCKSTEP_CHECK(status == CUBLAS_STATUS_SUCCESS)
          << "cublasLtMatmul: " << cublasLtGetStatusString(status) << " for " << out.sizes() << " = "
          << left.sizes() << " times " << right.sizes();
      if (sums && !sums->is_same(*row_sums)) row_sums->copy_(*sums);
      return;
    }
    if (row_sums) {  // there may be a plan without them
      product_cuda(out, a, a_transposed, b, b_transposed, accumulate, bias, std::nullopt, recurs);
      at::Tensor alone = *row_sums;
      at::sum_out(alone, left, at::IntArrayRef{1});
      return;
    }
  }
  product_by_torch(out, left, right, accumulate, bias, row_sums);
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) { library.impl("product_", &lockstep::kernels::product_cuda); }
