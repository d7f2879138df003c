// Rows of tokens as models take them.
#pragma once

#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "lockstep/models/causal_lm.h"

namespace lockstep::models {

// One row holding one document; each token's target is the next one.
inline ModelInput single_document(const std::vector<int64_t>& ids) {
  const auto count = static_cast<int64_t>(ids.size());
  const auto tokens = at::tensor(ids, at::kLong).unsqueeze(0);
  const auto last = at::full({1, 1}, -100, at::kLong);
  return {.tokens = tokens,
          .positions = at::arange(count, at::kLong).unsqueeze(0),
          .document_ids = at::zeros({1, count}, at::kInt),
          .targets = at::cat({tokens.narrow(1, 1, count - 1), last}, 1)};
}

}  // namespace lockstep::models
