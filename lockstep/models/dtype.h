// The dtypes of safetensors files as libtorch's.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string_view>

namespace lockstep::models {

// Of weights: F64, F32, F16, BF16; nothing for any other word.
inline std::optional<at::ScalarType> scalar_type(std::string_view dtype) {
  if (dtype == "F64") return at::kDouble;
  if (dtype == "F32") return at::kFloat;
  if (dtype == "F16") return at::kHalf;
  if (dtype == "BF16") return at::kBFloat16;
  return std::nullopt;
}

// The word for it; empty for a dtype that has none here.
inline std::string_view dtype_word(at::ScalarType type) {
  if (type == at::kDouble) return "F64";
  if (type == at::kFloat) return "F32";
  if (type == at::kHalf) return "F16";
  if (type == at::kBFloat16) return "BF16";
  if (type == at::kLong) return "I64";
  if (type == at::kInt) return "I32";
  if (type == at::kBool) return "BOOL";
  return "";
}

}  // namespace lockstep::models
