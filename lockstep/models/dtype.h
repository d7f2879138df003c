// The floating-point dtypes of safetensors files as libtorch's.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string_view>

namespace lockstep::models {

// F64, F32, F16, BF16; nothing for any other word.
inline std::optional<at::ScalarType> scalar_type(std::string_view dtype) {
  if (dtype == "F64") return at::kDouble;
  if (dtype == "F32") return at::kFloat;
  if (dtype == "F16") return at::kHalf;
  if (dtype == "BF16") return at::kBFloat16;
  return std::nullopt;
}

}  // namespace lockstep::models
