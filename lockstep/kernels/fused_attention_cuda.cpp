// The GPU's side of the operators of kernels/fused_attention.cpp.
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/transformers/cuda/sdp_utils.h>
#include <c10/cuda/CUDAException.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <string>

namespace lockstep::kernels {
namespace {

constexpr int kAmpere = 8, kHopper = 9;
// Before it, results for lengths that 128 does not divide were wrong (pytorch/pytorch#169849).
constexpr long kAnyLength = 91501;

int compute_capability(const at::Tensor& tensor) {
  int major = 0;
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, tensor.get_device()));
  return major;
}

// torch says why its check fails only by warning.
class FirstWarning : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    if (words.empty()) words = warning.msg();
  }
  std::string words;
};

std::string refusal_cuda(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  if (const int major = compute_capability(query); major < kHopper) {
    return fmt::format("before compute capability {}.0 the flash kernel is as fast, and this GPU has {}.x",
                       kHopper, major);
  }
  const sdp::sdp_params params{
      query, key, value, std::nullopt, /*dropout=*/0.0, /*is_causal=*/true, /*enable_gqa=*/true};
  if (!sdp::can_use_cudnn_attention(params, /*debug=*/false)) {
    FirstWarning reason;
    const c10::WarningUtils::WarningHandlerGuard guard(&reason);
    sdp::can_use_cudnn_attention(params, /*debug=*/true);
    return reason.words.empty() ? "torch does not say why" : reason.words;
  }
  static const long version = at::detail::getCUDAHooks().versionRuntimeCuDNN();
  if (version < kAnyLength && query.size(2) % 128 != 0) {
    return fmt::format("cuDNN {} takes rows of multiples of 128 tokens, and these have {}", version,
                       query.size(2));
  }
  return "";
}

// As torch's own check (sdp_utils.cpp), which wants whole tensors.
bool takes_documents_cuda(const at::Tensor& x, int64_t head_dim) {
  constexpr int64_t kMostChannels = 256;
  const bool is_half = x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf;
  return is_half && head_dim % 8 == 0 && head_dim <= kMostChannels && compute_capability(x) >= kAmpere;
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) {
  library.impl("flash_takes_documents", &lockstep::kernels::takes_documents_cuda);
  library.impl("cudnn_attention_refusal", &lockstep::kernels::refusal_cuda);
}
