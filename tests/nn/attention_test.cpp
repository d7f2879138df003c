#include "lockstep/nn/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::nn {
namespace {

at::Tensor ids(const std::vector<std::vector<int>>& rows) {
  auto out = at::zeros({static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())}, at::kInt);
  for (size_t b = 0; b < rows.size(); ++b) out[b].copy_(at::tensor(rows[b], at::kInt));
  return out;
}

AttentionMask mask_of(const at::Tensor& document_ids, at::ScalarType dtype = at::kDouble) {
  return AttentionMask::documents(document_ids, at::empty({0}, dtype), /*head_dim=*/4);
}

// Softmax over the visible keys, one query at a time.
at::Tensor reference(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const at::Tensor& document_ids) {
  auto out = at::zeros_like(query);
  const int64_t group = query.size(1) / key.size(1);
  for (int64_t b = 0; b < query.size(0); ++b) {
    for (int64_t h = 0; h < query.size(1); ++h) {
      for (int64_t t = 0; t < query.size(2); ++t) {
        const auto visible = document_ids[b].narrow(0, 0, t + 1).eq(document_ids[b][t]).nonzero().squeeze(-1);
        const auto keys = key[b][h / group].index_select(0, visible);
        const auto values = value[b][h / group].index_select(0, visible);
        const auto scores = keys.mv(query[b][h][t]) / std::sqrt(static_cast<double>(query.size(3)));
        out[b][h][t].copy_(scores.softmax(0).matmul(values));
      }
    }
  }
  return out;
}

struct Heads {
  at::Tensor query, key, value;
};
Heads random_heads(int64_t rows, int64_t tokens) {
  return {at::randn({rows, 6, tokens, 4}, at::kDouble), at::randn({rows, 2, tokens, 4}, at::kDouble),
          at::randn({rows, 2, tokens, 4}, at::kDouble)};
}

TEST(AttentionMask, RowsOfOneDocumentNeedNoBias) {
  EXPECT_TRUE(mask_of(ids({{0, 0, 0}, {7, 7, 7}})).causal);
  EXPECT_TRUE(mask_of(ids({{0, 0, -1}, {0, 0, 0}})).causal) << "padding at the end is seen by nobody";
  EXPECT_FALSE(mask_of(ids({{0, 0, 0}, {0, 1, 1}})).causal);
  EXPECT_FALSE(mask_of(ids({{-1, 0, 0}})).causal) << "padding in front would be seen";
}

TEST(Attention, OverPackedRowsEqualsEachDocumentAlone) {
  const auto document_ids = ids({{0, 0, 0, 1, 1, 2, 2}, {0, 1, 1, 1, 1, -1, -1}});
  const auto [query, key, value] = random_heads(2, 7);
  const auto out = attention(query, key, value, mask_of(document_ids));
  EXPECT_TRUE(at::allclose(out, reference(query, key, value, document_ids), 0, 1e-12));
}

TEST(Attention, OfOneDocumentIsCausal) {
  const auto document_ids = ids({{4, 4, 4, 4, 4}});
  const auto [query, key, value] = random_heads(1, 5);
  const auto out = attention(query, key, value, mask_of(document_ids));
  EXPECT_TRUE(at::allclose(out, reference(query, key, value, document_ids), 0, 1e-12));
}

TEST(Attention, GradientsDoNotCrossDocuments) {
  const auto document_ids = ids({{0, 0, 0, 1, 1}});
  auto [query, key, value] = random_heads(1, 5);
  key.set_requires_grad(true);
  value.set_requires_grad(true);
  attention(query, key, value, mask_of(document_ids)).narrow(2, 3, 2).sum().backward();
  EXPECT_EQ(value.grad().narrow(2, 0, 3).abs().max().item<double>(), 0.0);
  EXPECT_EQ(key.grad().narrow(2, 0, 3).abs().max().item<double>(), 0.0);
  EXPECT_GT(value.grad().narrow(2, 3, 2).abs().max().item<double>(), 0.0);
}

TEST(Attention, WorksInBfloat16) {
  const auto document_ids = ids({{0, 0, 0, 1, 1, 1, 1}});
  const auto [query, key, value] = random_heads(1, 7);
  const auto narrow = [](const at::Tensor& x) { return x.to(at::kBFloat16); };
  const auto out = attention(narrow(query), narrow(key), narrow(value), mask_of(document_ids, at::kBFloat16));
  EXPECT_TRUE(at::allclose(out.to(at::kDouble), reference(query, key, value, document_ids), 0,
                           3e-2));  // bfloat16 inputs and output
}

TEST(Attention, TheNewestTokenSeesTheWholeCache) {
  const auto document_ids = ids({{0, 0, 0, 0, 0}});
  const auto [query, key, value] = random_heads(1, 5);
  const auto last = attention(query.narrow(2, 4, 1), key, value, AttentionMask::none());
  EXPECT_TRUE(at::allclose(last, reference(query, key, value, document_ids).narrow(2, 4, 1), 0, 1e-12));
}

}  // namespace
}  // namespace lockstep::nn
