// The sum of a step's gradients, micro-batch by micro-batch, as one binary tree that does not
// depend on the number of ranks.
//
// The tree stands over the M micro-batches of a step, neighbours first, an odd one out moves up a
// level: comm/ordered_sum.h with M parts. Micro-batch i * W + r is the i-th of rank r
// (data/batch_plan.h), so with W a power of two the lowest log2(W) levels are the ordered sum over
// the ranks at each i. The rest is done here, over i, on each rank's own part of the sum: like
// a binary counter, level l holds the sum of 2^l neighbours or nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep::fsdp {

class GradientTree {
 public:
  // Adds the next part, [S]; takes its memory, which must not be used elsewhere. Of i parts at
  // most log2(i) + 1 are held.
  void add(at::Tensor part);
  // The sum of all parts since the last take; there must be one. The tree is empty afterwards.
  at::Tensor take();

 private:
  std::vector<at::Tensor> levels_;
};

}  // namespace lockstep::fsdp
