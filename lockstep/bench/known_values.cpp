#include "lockstep/bench/known_values.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace lockstep::bench {
namespace {

constexpr int64_t kPeriod = 251;     // a prime: no power of two shifts it onto itself
constexpr int64_t kRankStride = 17;  // neighbours differ everywhere
constexpr int64_t kPieceElements = int64_t{1} << 22;

// Elements [begin, begin + n) of what `rank` contributes.
at::Tensor contribution(int64_t begin, int64_t n, int rank, at::Device device) {
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  const int64_t offset = kRankStride * rank;
  return at::arange(begin + offset, begin + offset + n, options).remainder_(kPeriod).to(at::kFloat);
}

at::Tensor sum_of_contributions(int64_t begin, int64_t n, int num_ranks, at::Device device) {
  auto sum = at::zeros({n}, at::TensorOptions().dtype(at::kFloat).device(device));
  for (int rank = 0; rank < num_ranks; ++rank) sum.add_(contribution(begin, n, rank, device));
  return sum;
}

}  // namespace

void fill_contribution(const at::Tensor& in, int rank) {
  for (int64_t begin = 0; begin < in.numel(); begin += kPieceElements) {
    const int64_t n = std::min(kPieceElements, in.numel() - begin);
    in.narrow(0, begin, n).copy_(contribution(begin, n, rank, in.device()));
  }
}

int64_t count_wrong(Operation operation, const at::Tensor& out, int rank, int num_ranks) {
  // Of a gather every part is one rank's contribution from its begin on.
  const int64_t part = operation == Operation::kAllGather ? out.numel() / num_ranks : out.numel();
  int64_t wrong = 0;
  for (int64_t begin = 0; begin < out.numel();) {
    const int64_t owner = begin / part, in_part = begin % part;
    const int64_t n = std::min(kPieceElements, part - in_part);
    const auto expected =
        operation == Operation::kAllGather
            ? contribution(in_part, n, static_cast<int>(owner), out.device())
            : sum_of_contributions(operation == Operation::kReduceScatter ? rank * part + in_part : in_part,
                                   n, num_ranks, out.device());
    wrong += at::ne(out.narrow(0, begin, n), expected).sum().item<int64_t>();
    begin += n;
  }
  return wrong;
}

}  // namespace lockstep::bench
