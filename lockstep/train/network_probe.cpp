#include "lockstep/train/network_probe.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "lockstep/base/clock.h"

namespace lockstep::train {
namespace {

constexpr int kRounds = 4;
constexpr double kLongEnoughSeconds = 0.05;

struct Uses {
  comm::Communicator& comm;
  bool gathers, reduces, sums, broadcasts;
};

void exercise(const Uses& uses, int64_t part_numel, c10::Device device) {
  comm::Communicator& comm = uses.comm;
  if (comm.size() == 1) return;
  const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
  const at::Tensor part = at::zeros({part_numel}, options);
  const at::Tensor whole = at::zeros({comm.size() * part_numel}, options);
  if (uses.gathers) comm.all_gather(whole, part).wait();
  if (uses.reduces) comm.reduce_scatter(part, whole).wait();
  if (uses.sums) comm.all_reduce(whole).wait();
  if (uses.broadcasts) comm.broadcast(part, 0).wait();
  comm.barrier();
}

// Rank 0's on every rank, so that all of them do the same.
double agreed_seconds(comm::Communicator& comm, double seconds, c10::Device device) {
  const at::Tensor value = at::full({1}, seconds, at::TensorOptions().dtype(at::kDouble).device(device));
  comm.broadcast(value, 0).wait();
  return value.item<double>();
}

}  // namespace

void exercise(comm::Mesh& mesh, c10::Device device) {
  const Uses groups[] = {
      {.comm = mesh.world(), .gathers = true, .reduces = false, .sums = true, .broadcasts = true},
      {.comm = mesh.shard_gather(), .gathers = true, .reduces = false, .sums = true, .broadcasts = true},
      {.comm = mesh.shard_reduce(), .gathers = false, .reduces = true, .sums = false, .broadcasts = false},
      {.comm = mesh.replicate(), .gathers = false, .reduces = false, .sums = true, .broadcasts = false},
  };
  for (const int64_t total_bytes : {int64_t{4} << 10, int64_t{8} << 20}) {
    for (const Uses& uses : groups) {
      const int64_t part =
          std::max<int64_t>(1, total_bytes / static_cast<int64_t>(sizeof(float)) / uses.comm.size());
      exercise(uses, part, device);
    }
  }
}

transport::Bandwidth measure_bandwidth(comm::Mesh& mesh, c10::Device device) {
  comm::Communicator& comm = mesh.shard_size() > 1 ? mesh.shard_gather() : mesh.replicate();
  const int64_t most_bytes = device.is_cuda() ? int64_t{256} << 20 : int64_t{64} << 20;
  transport::Bandwidth measured{.ranks = comm.size()};
  for (int64_t bytes = int64_t{1} << 20;; bytes *= 4) {
    const int64_t part = bytes / comm.size();
    const auto options = at::TensorOptions().dtype(at::kByte).device(device);
    const at::Tensor in = at::zeros({part}, options);
    const at::Tensor out = at::zeros({part * comm.size()}, options);
    comm.all_gather(out, in).wait();
    comm.barrier();
    const Stopwatch stopwatch;
    for (int round = 0; round < kRounds; ++round) comm.all_gather(out, in).wait();
    comm.barrier();
    const double seconds = agreed_seconds(comm, stopwatch.seconds() / kRounds, device);
    measured.bytes = part * comm.size();
    measured.seconds = seconds;
    if (seconds >= kLongEnoughSeconds || bytes >= most_bytes) return measured;
  }
}

}  // namespace lockstep::train
