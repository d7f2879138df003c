#include "lockstep/comm/ordered_sum.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "lockstep/base/check.h"
#include "lockstep/comm/cuda_backend.h"

namespace lockstep::comm {
namespace {

constexpr int64_t kBlock = 1024;  // elements of all parts stay in the first-level cache

template <typename In, typename Out>
void sum_blocks(Out* out, const In* parts, int64_t num_parts, int64_t n) {
  at::parallel_for(0, n, 16 * kBlock, [&](int64_t begin, int64_t end) {
    std::vector<Out> level(static_cast<size_t>(num_parts * kBlock));
    for (int64_t start = begin; start < end; start += kBlock) {
      const int64_t count = std::min(kBlock, end - start);
      for (int64_t part = 0; part < num_parts; ++part) {
        const In* from = parts + part * n + start;
        Out* to = level.data() + part * kBlock;
        for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Out>(from[i]);
      }
      for (int64_t left = num_parts; left > 1; left = (left + 1) / 2) {
        for (int64_t pair = 0; pair < left / 2; ++pair) {
          Out* to = level.data() + pair * kBlock;
          const Out* a = level.data() + 2 * pair * kBlock;
          const Out* b = a + kBlock;
          for (int64_t i = 0; i < count; ++i) to[i] = a[i] + b[i];
        }
        if (left % 2 == 1) {
          std::copy_n(level.data() + (left - 1) * kBlock, count, level.data() + (left / 2) * kBlock);
        }
      }
      std::copy_n(level.data(), count, out + start);
    }
  });
}

template <typename Out>
void sum_into(Out* out, const at::Tensor& parts, int64_t n) {
  const int64_t num_parts = parts.size(0);
  switch (parts.scalar_type()) {
    case at::kFloat:
      return sum_blocks(out, parts.const_data_ptr<float>(), num_parts, n);
    case at::kDouble:
      return sum_blocks(out, parts.const_data_ptr<double>(), num_parts, n);
    case at::kBFloat16:
      return sum_blocks(out, parts.const_data_ptr<at::BFloat16>(), num_parts, n);
    case at::kHalf:
      return sum_blocks(out, parts.const_data_ptr<at::Half>(), num_parts, n);
    case at::kLong:
      return sum_blocks(out, parts.const_data_ptr<int64_t>(), num_parts, n);
    default:
      LOCKSTEP_CHECK(false) << "parts of dtype " << parts.dtype();
  }
}

}  // namespace

void ordered_sum(const at::Tensor& out, const at::Tensor& parts) {
  LOCKSTEP_CHECK(parts.dim() == 2 && parts.size(1) == out.numel())
      << parts.sizes() << " into " << out.sizes();
  LOCKSTEP_CHECK(out.is_contiguous() && parts.is_contiguous());
  if (out.is_cuda()) return cuda_backend()->ordered_sum(out, parts);
  const int64_t n = out.numel();
  switch (out.scalar_type()) {
    case at::kFloat:
      return sum_into(out.mutable_data_ptr<float>(), parts, n);
    case at::kDouble:
      return sum_into(out.mutable_data_ptr<double>(), parts, n);
    case at::kLong:
      return sum_into(out.mutable_data_ptr<int64_t>(), parts, n);
    default:
      LOCKSTEP_CHECK(false) << "sum of dtype " << out.dtype();
  }
}

}  // namespace lockstep::comm
