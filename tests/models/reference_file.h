// Reference values in one safetensors file.
#pragma once

#include <ATen/ops/empty.h>

#include <string>
#include <vector>

#include "lockstep/base/check.h"
#include "lockstep/models/safetensors_reader.h"

namespace lockstep::models {

class ReferenceFile {
 public:
  explicit ReferenceFile(const std::string& path) : reader_(SafetensorsReader::file(path)) {}

  at::Tensor floats(const std::string& name) const { return read(name, "F32", at::kFloat); }
  std::vector<int64_t> integers(const std::string& name) const {
    const auto values = read(name, "I64", at::kLong);
    return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel()};
  }

 private:
  at::Tensor read(const std::string& name, const std::string& dtype, at::ScalarType type) const {
    const StoredTensor* stored = reader_.find(name);
    LOCKSTEP_CHECK(stored != nullptr && stored->dtype == dtype) << name;
    const auto out = at::empty(stored->shape, type);
    reader_.read(*stored, 0,
                 {static_cast<std::byte*>(out.data_ptr()), static_cast<size_t>(stored->num_bytes)});
    return out;
  }

  SafetensorsReader reader_;
};

}  // namespace lockstep::models
