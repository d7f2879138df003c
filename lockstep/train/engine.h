// What a worker has before a train function runs: its device, its place among the ranks, the
// precision and the sharding that the recipe asks for.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <functional>
#include <memory>

#include "lockstep/base/recipe.h"
#include "lockstep/comm/cuda_backend.h"
#include "lockstep/comm/mesh.h"
#include "lockstep/comm/rendezvous.h"
#include "lockstep/fsdp/options.h"
#include "lockstep/launch/worker_env.h"
#include "lockstep/train/run_plan.h"

namespace lockstep::models {
class CausalLM;
}

namespace lockstep::train {

class Engine {
 public:
  // Picks the device (GPU `local_rank`, or the CPU), fixes threads and algorithms if
  // recipe.determinism asks for it, and finds the store that the ranks share. Throws CommError.
  Engine(const Recipe& recipe, const RunPlan& plan, const launch::WorkerEnv& env);
  // Collective, once. Forms the process groups. Throws CommError, and what NCCL throws.
  void connect();
  // In place of connect(): this process is rank 0 of `ranks` that are not there
  // (comm/stand_in_communicator.h).
  void stand_in(int ranks);

  comm::Rendezvous& rendezvous() { return *rendezvous_; }
  comm::Mesh& mesh() { return *mesh_; }  // after connect()
  c10::Device device() const { return device_; }
  fsdp::FsdpOptions fsdp_options() const;
  // What the recipe says of how a language model runs: sharding.recompute, train.cuda_graphs.
  void configure(models::CausalLM& model) const;

  // On a GPU.
  comm::CudaBackend::Memory gpu_memory() const;

  // Bytes held at most so far: by tensors on the GPU, or by the process (VmHWM).
  int64_t peak_bytes() const;

 private:
  const Recipe& recipe_;
  const RunPlan& plan_;
  c10::Device device_;
  c10::ScalarType compute_;
  std::unique_ptr<comm::Rendezvous> rendezvous_;
  std::unique_ptr<comm::Mesh> mesh_;
};

}  // namespace lockstep::train
