#include "lockstep/nn/gradient_home.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <map>
#include <mutex>

#include "lockstep/kernels/side_by_side.h"

namespace lockstep::nn {
namespace {

struct Homes {
  std::mutex mutex;
  std::map<const void*, GradientHome> by_parameter;  // its TensorImpl, which all holders of a parameter share
};

Homes& homes() {
  static auto* const all = new Homes;  // models may outlive static objects
  return *all;
}

// What a LastingHomes of this thread has given.
thread_local std::map<const void*, const void*>* lasting = nullptr;

const void* key_of(const at::Tensor& parameter) { return parameter.unsafeGetTensorImpl(); }

// Undefined: none, or not now.
at::Tensor lend(const at::Tensor& parameter, HomeUse use) {
  GradientHome home;
  {
    const std::lock_guard lock(homes().mutex);
    const auto found = homes().by_parameter.find(key_of(parameter));
    if (found == homes().by_parameter.end()) return {};
    home = found->second;
  }
  return home(use);
}

at::Tensor lent_home(const at::Tensor& parameter) {
  at::Tensor home = lend(parameter, lasting != nullptr ? HomeUse::kStays : HomeUse::kOnce);
  if (lasting != nullptr && home.defined()) (*lasting)[key_of(parameter)] = home.const_data_ptr();
  return home;
}

}  // namespace

void set_gradient_home(const at::Tensor& parameter, GradientHome home) {
  const std::lock_guard lock(homes().mutex);
  homes().by_parameter[key_of(parameter)] = std::move(home);
}

void remove_gradient_home(const at::Tensor& parameter) {
  const std::lock_guard lock(homes().mutex);
  homes().by_parameter.erase(key_of(parameter));
}

LastingHomes::LastingHomes() { lasting = &given_; }
LastingHomes::~LastingHomes() { lasting = nullptr; }

const void* LastingHomes::given(const at::Tensor& parameter) const {
  const auto found = given_.find(key_of(parameter));
  return found == given_.end() ? nullptr : found->second;
}

bool lend_again(const at::Tensor& parameter, const void* home) {
  const at::Tensor lent = lend(parameter, HomeUse::kStays);
  return lent.defined() && lent.const_data_ptr() == home;
}

at::Tensor new_gradient(const at::Tensor& parameter) {
  const at::Tensor home = lent_home(parameter);
  return home.defined() ? home : at::empty_like(parameter);
}

at::Tensor begun_gradient(const at::Tensor& parameter) { return lend(parameter, HomeUse::kBegun); }

at::Tensor new_joint_gradient(at::TensorList parameters) {
  auto sizes = parameters.front().sizes().vec();
  sizes[0] = 0;
  std::vector<at::Tensor> lent;
  for (const at::Tensor& parameter : parameters) {
    sizes[0] += parameter.size(0);
    if (const at::Tensor home = lent_home(parameter); home.defined()) lent.push_back(home);
  }
  if (lent.size() == parameters.size())
    if (const auto joined = kernels::joined_rows(lent)) return *joined;
  return at::empty(sizes, parameters.front().options());
}

}  // namespace lockstep::nn
