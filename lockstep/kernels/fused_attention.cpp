#include "lockstep/kernels/fused_attention.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace lockstep::kernels {
namespace {

std::string refusal_cpu(const at::Tensor&, const at::Tensor&, const at::Tensor&) {
  return "the tensors are on the CPU";
}

bool takes_documents_cpu(const at::Tensor&, int64_t) { return false; }

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def("cudnn_attention_refusal(Tensor query, Tensor key, Tensor value) -> str");
  library.def("flash_takes_documents(Tensor x, int head_dim) -> bool");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) {
  library.impl("cudnn_attention_refusal", &refusal_cpu);
  library.impl("flash_takes_documents", &takes_documents_cpu);
}

std::string cudnn_attention_refusal(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::cudnn_attention_refusal", "")
                             .typed<decltype(refusal_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return op.call(query, key, value);
}

bool flash_takes_documents(const at::Tensor& x, int64_t head_dim) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::flash_takes_documents", "")
                             .typed<decltype(takes_documents_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return op.call(x, head_dim);
}

}  // namespace lockstep::kernels
