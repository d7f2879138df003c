#include "lockstep/bench/measure.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>

#include "lockstep/bench/known_values.h"

namespace lockstep::bench {
namespace {

struct Buffers {
  at::Tensor in, out;
};

Buffers make_buffers(Operation operation, Placement placement, int64_t count,
                     const comm::Communicator& control, at::Device device) {
  const auto make = [&](int64_t n) {
    return at::empty({n}, at::TensorOptions().dtype(at::kFloat).device(device));
  };
  const bool in_place = placement == Placement::kInPlace;
  const int64_t own = control.rank() * count;
  Buffers buffers;
  switch (operation) {
    case Operation::kAllReduce:
      buffers.in = make(count);
      buffers.out = in_place ? buffers.in : make(count);
      break;
    case Operation::kAllGather:
      buffers.out = make(control.size() * count);
      buffers.in = in_place ? buffers.out.narrow(0, own, count) : make(count);
      break;
    case Operation::kReduceScatter:
      buffers.in = make(control.size() * count);
      buffers.out = in_place ? buffers.in.narrow(0, own, count) : make(count);
      break;
  }
  return buffers;
}

// Until all that was enqueued is done.
void finish(at::Device device) {
  if (device.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

}  // namespace

double Measured::algorithm_bandwidth(const Size& size) const {
  return static_cast<double>(size.bytes) / seconds / 1e9;
}

double Measured::bus_bandwidth(Operation operation, const Size& size, int num_ranks) const {
  return algorithm_bandwidth(size) * bus_factor(operation, num_ranks);
}

Measured measure(Operation operation, Placement placement, const Size& size, const Repetitions& repetitions,
                 const Collective& collective, comm::Communicator& control, at::Device device) {
  using Clock = std::chrono::steady_clock;
  const Buffers buffers = make_buffers(operation, placement, size.count, control, device);
  fill_contribution(buffers.in, control.rank());
  for (int i = 0; i < repetitions.warmup; ++i) collective(buffers.out, buffers.in);
  finish(device);
  control.barrier();
  const auto start = Clock::now();
  for (int i = 0; i < repetitions.iterations; ++i) collective(buffers.out, buffers.in);
  finish(device);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count() / repetitions.iterations;

  if (placement == Placement::kOutOfPlace)
    buffers.out.fill_(-1);  // no result of before may pass for a new one
  fill_contribution(buffers.in, control.rank());
  finish(device);
  control.barrier();
  collective(buffers.out, buffers.in);
  const int64_t wrong = count_wrong(operation, buffers.out, control.rank(), control.size());

  const auto folded = at::tensor({seconds, static_cast<double>(wrong)}, at::kDouble).to(device);
  control.all_reduce(folded).wait();
  const auto sums = folded.cpu();
  return {sums[0].item<double>() / control.size(), static_cast<int64_t>(sums[1].item<double>())};
}

int buffers_held(Operation operation, bool fixed_order) {
  int buffers = 2;  // the caller's; a gather's or scatter's smaller one counts as whole
  // A fixed order of additions holds the padded input and the pieces that the other ranks sent; a library may
  // copy the input of a reduce-scatter.
  if (operation == Operation::kAllReduce && fixed_order) buffers += 3;
  if (operation == Operation::kReduceScatter) buffers += 1;
  return buffers;
}

int64_t working_bytes(Operation operation, const Size& size, bool fixed_order) {
  constexpr int64_t kForChecking = int64_t{128} << 20;  // known_values.h, and what the allocator rounds up
  return buffers_held(operation, fixed_order) * size.bytes + kForChecking;
}

}  // namespace lockstep::bench
