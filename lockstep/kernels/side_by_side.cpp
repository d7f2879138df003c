#include "lockstep/kernels/side_by_side.h"

#include <ATen/ops/empty.h>

namespace lockstep::kernels {
namespace {

bool follows(const at::Tensor& next, const at::Tensor& first, int64_t elements_behind) {
  return next.scalar_type() == first.scalar_type() && next.storage().is_alias_of(first.storage()) &&
         next.storage_offset() == first.storage_offset() + elements_behind;
}

std::vector<int64_t> widths_of(at::TensorList parts) {
  std::vector<int64_t> widths;
  for (const at::Tensor& part : parts) widths.push_back(part.size(-1));
  return widths;
}

int64_t sum_of(const std::vector<int64_t>& values) {
  int64_t sum = 0;
  for (const int64_t value : values) sum += value;
  return sum;
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

}  // namespace

std::optional<at::Tensor> joined_rows(at::TensorList parts) {
  const at::Tensor& first = parts.front();
  auto sizes = first.sizes().vec();
  int64_t elements = 0;
  sizes[0] = 0;
  for (const at::Tensor& part : parts) {
    const bool fits = part.is_contiguous() && part.sizes().slice(1) == first.sizes().slice(1);
    if (!fits || !follows(part, first, elements)) return std::nullopt;
    elements += part.numel();
    sizes[0] += part.size(0);
  }
  return first.as_strided(sizes, contiguous_strides(sizes));
}

std::optional<at::Tensor> joined_columns(at::TensorList parts) {
  const at::Tensor& first = parts.front();
  auto sizes = first.sizes().vec();
  sizes.back() = sum_of(widths_of(parts));
  const auto strides = contiguous_strides(sizes);
  int64_t column = 0;
  for (const at::Tensor& part : parts) {
    const bool fits = part.sizes().slice(0, sizes.size() - 1) == first.sizes().slice(0, sizes.size() - 1) &&
                      part.strides() == at::IntArrayRef(strides);
    if (!fits || !follows(part, first, column)) return std::nullopt;
    column += part.size(-1);
  }
  return first.as_strided(sizes, strides);
}

std::vector<at::Tensor> empty_columns_like(at::TensorList parts) {
  if (const auto joined = joined_columns(parts))
    return at::empty(joined->sizes(), joined->options()).split_with_sizes(widths_of(parts), -1);
  std::vector<at::Tensor> result;
  for (const at::Tensor& part : parts) result.push_back(at::empty(part.sizes(), part.options()));
  return result;
}

}  // namespace lockstep::kernels
