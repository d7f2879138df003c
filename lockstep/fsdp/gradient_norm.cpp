#include "lockstep/fsdp/gradient_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lockstep/base/check.h"
#include "lockstep/kernels/square_sum.h"

namespace lockstep::fsdp {
namespace {

// Over all ranks; NaN if there is one.
double largest_magnitude(const std::vector<at::Tensor>& gradients, c10::Device device,
                         comm::Communicator& comm) {
  const auto options = at::TensorOptions().dtype(at::kDouble).device(device);
  at::Tensor largest = at::zeros({1}, options);
  std::vector<at::Tensor> bounds;
  for (const auto& gradient : gradients) {
    const auto [min, max] = at::aminmax(gradient);
    bounds.push_back(min.neg());
    bounds.push_back(max);
  }
  if (!bounds.empty()) largest.copy_(at::amax(at::stack(bounds)));
  const at::Tensor of_ranks = at::empty({comm.size()}, options);
  comm.all_gather(of_ranks, largest).wait();
  return at::amax(of_ranks).item<double>();
}

double plain_norm(const std::vector<at::Tensor>& gradients, c10::Device device, comm::Communicator& comm) {
  at::Tensor squares = at::zeros({1}, at::TensorOptions().dtype(at::kDouble).device(device));
  if (!gradients.empty()) {
    // In float64, where the square of no float32 overflows: a norm is infinite only if a gradient is.
    std::vector<at::Tensor> parts;
    for (const auto& gradient : gradients) parts.push_back(kernels::square_parts(gradient));
    squares += at::cat(parts).sum();
  }
  const at::Tensor of_ranks = at::empty({comm.size()}, squares.options());
  comm.all_gather(of_ranks, squares).wait();
  return std::sqrt(of_ranks.sum().item<double>());
}

double exact_norm(const std::vector<at::Tensor>& gradients, c10::Device device, comm::Communicator& comm) {
  const double largest = largest_magnitude(gradients, device, comm);
  if (largest == 0) return 0;
  if (!std::isfinite(largest)) return largest;
  // A power of two, so that scaling is exact; 2^-exponent must be a float64 itself.
  int exponent = 0;
  std::frexp(largest, &exponent);
  exponent = std::max(exponent, std::numeric_limits<double>::min_exponent);
  at::Tensor digits =
      at::zeros({kernels::kSquareDigits}, at::TensorOptions().dtype(at::kLong).device(device));
  int64_t numel = 0;
  for (const auto& gradient : gradients) {
    numel += gradient.numel();
    kernels::add_squares(digits, gradient, std::ldexp(1.0, -exponent));
  }
  LOCKSTEP_CHECK(numel <= kernels::kMaxSquares / comm.size()) << numel << " elements on each rank";
  comm.all_reduce(digits).wait();
  return std::ldexp(std::sqrt(kernels::square_sum(digits.to(at::kCPU))), exponent);
}

}  // namespace

double gradient_norm(const std::vector<at::Tensor>& gradients, c10::Device device, comm::Communicator& comm,
                     NormSum sum) {
  return sum == NormSum::kExact ? exact_norm(gradients, device, comm) : plain_norm(gradients, device, comm);
}

double clip_scale(double norm, double max_norm) {
  if (max_norm <= 0) return 1;
  const double scale = max_norm / (norm + 1e-6);
  return scale < 1 ? scale : 1;
}

}  // namespace lockstep::fsdp
