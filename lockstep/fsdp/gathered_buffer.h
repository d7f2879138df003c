// A flat tensor whose memory comes and goes under it, so that views of it (a unit's
// parameters, and what autograd saved of them) stay valid objects all the time. Reading
// one while the memory is gone throws; it never reads garbage.
#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/fsdp/unit_memory.h"

namespace lockstep::fsdp {

class GatheredBuffer {
 public:
  // `memory` outlives it.
  GatheredBuffer(int64_t numel, c10::ScalarType dtype, c10::Device device, UnitMemory& memory);

  const at::Tensor& tensor() const { return tensor_; }  // [numel]
  bool allocated() const;
  // Memory, its content undefined.
  void allocate();
  // Gives the memory back. Debug builds fill it with NaN first, so that a raw pointer that was
  // kept against the rules shows.
  void release();

 private:
  UnitMemory& memory_;
  at::Tensor tensor_;
};

}  // namespace lockstep::fsdp
