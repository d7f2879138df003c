#include "lockstep/train/engine.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <fstream>
#include <string>

#include "lockstep/base/check.h"
#include "lockstep/comm/cuda_backend.h"
#include "lockstep/models/causal_lm.h"
#include "lockstep/train/rendezvous_options.h"

namespace lockstep::train {
namespace {

c10::ScalarType dtype_of(const std::string& name) {
  if (name == "bf16") return c10::kBFloat16;
  if (name == "fp64") return c10::kDouble;
  LOCKSTEP_CHECK(name == "fp32") << name;
  return c10::kFloat;
}

c10::Device pick_device(const RunPlan& plan, int local_rank) {
  if (!plan.use_gpu) return c10::kCPU;
  LOCKSTEP_CHECK(comm::cuda_backend() != nullptr) << "the CUDA library is not loaded";
  comm::cuda_backend()->set_device(local_rank);
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(local_rank)};
}

// The same bits in every run of the same ranks, on any machine: sums inside an operation must
// not be split over a number of threads that depends on its cores. So one thread a worker, on
// the CPU; more workers use more cores.
void make_deterministic() {
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::set_num_threads(1);
}

// Peak of the resident memory of this process, as the kernel counts it.
int64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

Engine::Engine(const Recipe& recipe, const RunPlan& plan, const launch::WorkerEnv& env)
    : recipe_(recipe),
      plan_(plan),
      device_(pick_device(plan, env.local_rank)),
      compute_(dtype_of(plan.compute)) {
  if (recipe.determinism != "none") make_deterministic();
  comm::RendezvousOptions options = rendezvous_options(env);
  options.timeout = recipe.failure.hang_timeout;
  rendezvous_ = comm::Rendezvous::connect(options);
}

void Engine::connect() {
  mesh_ = std::make_unique<comm::Mesh>(*rendezvous_, plan_.strategy == "none" ? 1 : rendezvous_->world_size(),
                                       plan_.use_gpu ? comm::Backend::kNccl : comm::Backend::kGloo);
}

void Engine::stand_in(int ranks) { mesh_ = comm::Mesh::stand_in(rendezvous_->position(), ranks); }

fsdp::FsdpOptions Engine::fsdp_options() const {
  fsdp::FsdpOptions options;
  options.strategy = plan_.strategy == "grad_op" ? fsdp::Strategy::kGradOp : fsdp::Strategy::kFull;
  options.wrap = recipe_.sharding.wrap_modules.empty()
                     ? fsdp::wrap_by_size(recipe_.sharding.wrap_min_parameters)
                     : fsdp::wrap_by_type(recipe_.sharding.wrap_modules);
  options.device = device_;
  options.compute = compute_;
  options.master = compute_ == c10::kDouble ? c10::kDouble : dtype_of(recipe_.precision.master);
  // Backward leaves them in the computing dtype: more digits would only be more bytes to send.
  options.reduce = recipe_.precision.reduce.empty() ? compute_ : dtype_of(recipe_.precision.reduce);
  options.elastic = recipe_.determinism == "elastic";
  // One backward of one rank: as many digits as it computes with, half the memory and its traffic.
  if (mesh_->world_size() == 1 && plan_.accumulation == 1 && !options.elastic) options.grad = compute_;
  options.peer_copies = recipe_.sharding.peer_copies;
  if (device_.is_cuda()) options.prefetch_units = options.reductions_in_flight = 1;
  return options;
}

void Engine::configure(models::CausalLM& model) const {
  const std::string& again = recipe_.sharding.recompute;
  model->set_recompute(again == "block"       ? models::Recompute::kBlock
                       : again == "selective" ? models::Recompute::kSelective
                                              : models::Recompute::kNone);
  if (device_.is_cuda() && recipe_.train.cuda_graphs) model->set_recorder(nn::Recorder::make());
}

comm::CudaBackend::Memory Engine::gpu_memory() const {
  LOCKSTEP_CHECK(device_.is_cuda());
  return comm::cuda_backend()->memory(device_.index());
}

int64_t Engine::peak_bytes() const {
  return device_.is_cuda() ? comm::cuda_backend()->peak_bytes(device_.index()) : peak_resident_bytes();
}

}  // namespace lockstep::train
