#include "lockstep/kernels/product_plan.h"

#include <c10/cuda/CUDAException.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "lockstep/base/check.h"

namespace lockstep::kernels {
namespace {

constexpr int kCandidates = 8;
constexpr int kTimedRuns = 3;
// Kernels that use a workspace mostly have it zeroed first, a launch of its own, and are no faster for it:
// they must win by more than times vary.
constexpr float kWithWorkspace = 1.02F;

void require(cublasStatus_t status, const char* call) {
  LOCKSTEP_CHECK(status == CUBLAS_STATUS_SUCCESS) << call << ": " << cublasLtGetStatusString(status);
}

// Rows and columns as cuBLASLt sees them.
cublasLtMatrixLayout_t layout(cudaDataType_t type, int64_t rows, int64_t columns) {
  cublasLtMatrixLayout_t result = nullptr;
  require(cublasLtMatrixLayoutCreate(&result, type, static_cast<uint64_t>(rows),
                                     static_cast<uint64_t>(columns), rows),
          "cublasLtMatrixLayoutCreate");
  return result;
}

class Event {
 public:
  Event() { C10_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { C10_CUDA_CHECK_WARN(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) { C10_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  float ms_until(const Event& end) const {
    C10_CUDA_CHECK(cudaEventSynchronize(end.event_));
    float ms = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&ms, event_, end.event_));
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

// Made anew for each call, on the stack: the addresses of the bias and of the sums are part of it.
struct ProductPlan::Descriptor {
  Descriptor(const ProductShape& shape, const ProductOperands& operands) {
    require(cublasLtMatmulDescInit(&opaque, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescInit");
    // Its first operand is our second.
    set(CUBLASLT_MATMUL_DESC_TRANSA, shape.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, shape.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (!shape.with_bias && !shape.with_row_sums) return;
    const void* vector = shape.with_bias ? operands.bias : operands.row_sums;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, shape.with_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_BGRADB);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, shape.wide_out ? CUDA_R_32F : CUDA_R_16BF);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector);
  }
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    require(cublasLtMatmulDescSetAttribute(&opaque, attribute, &value, sizeof value),
            "cublasLtMatmulDescSetAttribute");
  }
  cublasLtMatmulDescOpaque_t opaque;
};

ProductPlan::ProductPlan(const ProductShape& shape) : shape_(shape) {
  const auto& s = shape_;
  a_ = s.a_transposed ? layout(CUDA_R_16BF, s.m, s.k) : layout(CUDA_R_16BF, s.k, s.m);
  b_ = s.b_transposed ? layout(CUDA_R_16BF, s.k, s.n) : layout(CUDA_R_16BF, s.n, s.k);
  out_ = layout(s.wide_out ? CUDA_R_32F : CUDA_R_16BF, s.n, s.m);
}

ProductPlan::~ProductPlan() {
  for (const auto each : {a_, b_, out_}) cublasLtMatrixLayoutDestroy(each);
}

int ProductPlan::suggestions(cublasLtHandle_t handle, size_t workspace_bytes, int count,
                             const ProductOperands& operands,
                             cublasLtMatmulHeuristicResult_t* results) const {
  cublasLtMatmulPreferenceOpaque_t preference;
  require(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    require(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value),
            "cublasLtMatmulPreferenceSetAttribute");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape_.b_alignment);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape_.a_alignment);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape_.out_alignment);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape_.out_alignment);
  // Parts of a split sum are added in float32, never in bf16.
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  Descriptor descriptor(shape_, operands);
  int found = 0;
  const auto status = cublasLtMatmulAlgoGetHeuristic(handle, &descriptor.opaque, b_, a_, out_, out_,
                                                     &preference, count, results, &found);
  return status == CUBLAS_STATUS_SUCCESS ? found : 0;
}

cublasStatus_t ProductPlan::run_with(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm,
                                     const ProductOperands& operands, Workspace workspace,
                                     cudaStream_t stream) const {
  Descriptor descriptor(shape_, operands);
  const float one = 1, beta = shape_.accumulate ? 1 : 0;
  return cublasLtMatmul(handle, &descriptor.opaque, &one, operands.b, b_, operands.a, a_, &beta, operands.out,
                        out_, operands.out, out_, &algorithm, workspace.begin, workspace.bytes, stream);
}

float ProductPlan::time_ms(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm,
                           const ProductOperands& operands, Workspace workspace, cudaStream_t stream) const {
  Event begin, end;
  for (int run = -1; run < kTimedRuns; ++run) {  // one to warm up
    if (run == 0) begin.record(stream);
    if (run_with(handle, algorithm, operands, workspace, stream) != CUBLAS_STATUS_SUCCESS)
      return std::numeric_limits<float>::infinity();
  }
  end.record(stream);
  return begin.ms_until(end);
}

bool ProductPlan::suggest(cublasLtHandle_t handle, const ProductOperands& operands, size_t workspace_bytes) {
  cublasLtMatmulHeuristicResult_t result;
  if (suggestions(handle, workspace_bytes, 1, operands, &result) == 0) return false;
  algorithm_ = result.algo;
  return true;
}

void ProductPlan::tune(cublasLtHandle_t handle, ProductOperands operands, void* scratch, Workspace workspace,
                       cudaStream_t stream) {
  std::vector<cublasLtMatmulHeuristicResult_t> results;
  for (const size_t workspace_bytes : {size_t{0}, workspace.bytes}) {
    cublasLtMatmulHeuristicResult_t few[kCandidates];
    const int found = suggestions(handle, workspace_bytes, kCandidates, operands, few);
    results.insert(results.end(), few, few + found);
  }
  operands.out = scratch;
  float best = std::numeric_limits<float>::infinity();
  for (const auto& result : results) {
    float ms = time_ms(handle, result.algo, operands, workspace, stream);
    if (result.workspaceSize > 0) ms *= kWithWorkspace;
    if (ms >= best) continue;
    best = ms;
    algorithm_ = result.algo;
  }
}

cublasStatus_t ProductPlan::run(cublasLtHandle_t handle, const ProductOperands& operands, Workspace workspace,
                                cudaStream_t stream) const {
  return run_with(handle, algorithm_, operands, workspace, stream);
}

}  // namespace lockstep::kernels
