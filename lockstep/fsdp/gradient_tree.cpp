#include "lockstep/fsdp/gradient_tree.h"

#include <utility>

#include "lockstep/base/check.h"

namespace lockstep::fsdp {

void GradientTree::add(at::Tensor part) {
  size_t level = 0;
  for (; level < levels_.size() && levels_[level].defined(); ++level) {
    part = std::exchange(levels_[level], at::Tensor()).add_(part);
  }
  if (level == levels_.size()) levels_.emplace_back();
  levels_[level] = std::move(part);
}

at::Tensor GradientTree::take() {
  at::Tensor sum;
  for (auto& level : levels_) {
    if (!level.defined()) continue;
    at::Tensor subtree = std::exchange(level, at::Tensor());
    sum = sum.defined() ? subtree.add_(sum) : std::move(subtree);
  }
  LOCKSTEP_CHECK(sum.defined()) << "a sum of no gradients";
  return sum;
}

}  // namespace lockstep::fsdp
