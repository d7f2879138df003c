// Rows of tokens as models take them.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <vector>

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

// All documents in one row, with `padding` positions at its end.
inline ModelInput packed_row(const std::vector<std::vector<int64_t>>& documents, int64_t padding) {
  std::vector<at::Tensor> tokens, positions, ids, targets;
  for (size_t i = 0; i < documents.size(); ++i) {
    const ModelInput alone = single_document(documents[i]);
    tokens.push_back(alone.tokens);
    positions.push_back(alone.positions);
    ids.push_back(alone.document_ids + static_cast<int64_t>(i));
    targets.push_back(alone.targets);
  }
  tokens.push_back(at::zeros({1, padding}, at::kLong));
  positions.push_back(at::zeros({1, padding}, at::kLong));
  ids.push_back(at::full({1, padding}, -1, at::kInt));
  targets.push_back(at::full({1, padding}, -100, at::kLong));
  return {at::cat(tokens, 1), at::cat(positions, 1), at::cat(ids, 1), at::cat(targets, 1)};
}

}  // namespace lockstep::models
