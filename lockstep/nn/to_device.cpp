#include "lockstep/nn/to_device.h"

namespace lockstep::nn {

at::Tensor to_device(const at::Tensor& x, c10::Device device) {
  if (x.device() == device) return x;
  const bool pins = x.is_cpu() && device.is_cuda();
  return (pins ? x.pin_memory() : x).to(device, /*non_blocking=*/true);
}

}  // namespace lockstep::nn
