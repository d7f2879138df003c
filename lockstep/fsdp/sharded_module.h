// A module whose parameters are sharded over a mesh: the part that does not depend on the
// module's type. Users hold fsdp::Sharded<Model> (sharded.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/comm/mesh.h"
#include "lockstep/fsdp/options.h"
#include "lockstep/fsdp/unit_memory.h"

namespace torch::nn {
class Module;
}

namespace lockstep::fsdp {

class Schedule;
class Unit;

// A contiguous part of a parameter that this rank holds; what checkpoints save and load.
struct NamedSlice {
  std::string name;            // of the parameter
  std::vector<int64_t> sizes;  // of the whole parameter
  int64_t offset = 0;          // of the slice's first element, in the flattened parameter
  at::Tensor values;           // [n], a view of the shard: writing to it changes the weights
  int64_t shard_index = 0;     // of the shard in parameters() (trainable ones only, else -1)
  int64_t shard_offset = 0;    // of the slice in that shard, so optimizer state can be sliced alike
};

struct UnitInfo {
  std::string name;  // module's name; "(root)" for the root
  std::string type;
  int64_t numel = 0;
  int64_t frozen_numel = 0;
};

class ShardedModule {
 public:
  // Collective. Shards `root`'s parameters in place, module by module: a parameter on meta
  // is read slice by slice from `root`, which must then be an nn::WeightSource; any other
  // takes rank 0's values. Buffers take rank 0's values and stay whole. Host memory above
  // the shards: the largest parameter. Throws ConfigError for a meta parameter without source.
  ShardedModule(std::shared_ptr<torch::nn::Module> root, comm::Mesh& mesh, FsdpOptions options);
  ~ShardedModule();

  // This rank's shards of the trainable parameters, one flat [S] tensor a unit; what the
  // optimizer gets. The gradient of each is its grad().
  std::vector<at::Tensor> parameters() const;
  std::vector<NamedSlice> slices() const;
  std::vector<UnitInfo> units() const;
  // For each parameter the index of its shard in parameters(), alike on every rank; -1: frozen.
  std::vector<std::pair<std::string, int64_t>> shard_indices() const;
  // Buffers, whole on every rank, by name.
  std::vector<std::pair<std::string, at::Tensor>> buffers() const;
  // Names as in named_parameters() of the root before sharding, tied ones once, in that order.
  const std::vector<std::string>& parameter_names() const { return names_; }
  int64_t numel() const;
  // What this rank holds now, in bytes. `gathered`: in the computing dtype, where that is not the shards',
  // with the memory that is kept for it.
  struct HeldBytes {
    int64_t shards = 0, gradients = 0, gathered = 0;
  };
  HeldBytes held_bytes() const;

  // For each of parameters() its values in bfloat16, where the module computes in that and a forward has made
  // them: what a lone rank computes with, or what is sent to the others; undefined elsewhere. An optimizer
  // that writes the new weights there too (optim::AdamW::step) spares the next forward a pass over memory;
  // say so with copies_written(), before gradients are dropped. Collective: from then on the ranks of a host
  // may read each other's copies (comm::Communicator::publish).
  std::vector<at::Tensor> compute_copies() const;
  void copies_written();

  // Collective. The whole parameter, or its gradient, in the shards' dtype on CPU, on every rank.
  at::Tensor full_parameter(const std::string& name);
  at::Tensor full_gradient(const std::string& name);

  // See Schedule::set_last_micro_batch. True at the start.
  void set_last_micro_batch(bool last);

  // While on, units stay gathered after forwards without gradients: many small ones (a token
  // at a time) then gather once, and each rank holds the whole model in the computing dtype.
  void keep_gathered(bool keep);

  // Collective. The 2-norm of all gradients, over all shards; when FsdpOptions::elastic the same bits for any
  // sharding (fsdp/gradient_norm.h).
  double grad_norm();
  // The same, and when max_norm > 0 they are scaled down to it (fsdp::clip_scale). An optimizer that takes
  // the scale spares a pass over memory: optim::AdamW::step(clip_scale(grad_norm(), max_norm)), same bits.
  double clip_grad_norm(double max_norm);

  // Runs what a call of the root's holder runs, for roots that are not nn::Module.
  void before_root_forward();
  void after_root_forward(const std::vector<at::Tensor>& outputs);
  void abandon_root_forward() noexcept;
  bool root_has_hooks() const { return root_has_hooks_; }

  comm::Mesh& mesh() { return mesh_; }
  c10::Device device() const { return options_.device; }
  int64_t compute_element_size() const { return static_cast<int64_t>(c10::elementSize(options_.compute)); }

 private:
  struct Place {
    size_t unit, shard, index;  // of a parameter: units_[unit].shards()[shard].parameter(index)
  };
  void materialise(Unit& unit);
  void publish();
  std::vector<at::Tensor> gradients() const;  // of the shards that have one
  at::Tensor gather_slices(const std::string& name, bool gradient);

  std::shared_ptr<torch::nn::Module> root_;
  comm::Mesh& mesh_;
  FsdpOptions options_;
  UnitMemory memory_;
  std::unique_ptr<Schedule> schedule_;
  std::vector<std::shared_ptr<Unit>> units_;
  std::vector<torch::nn::Module*> unit_modules_;
  std::vector<std::string> names_;
  std::vector<Place> places_;  // by name
  bool root_has_hooks_ = false;
  std::optional<bool> shares_;  // whether gathers may read other ranks' memory, once that is known
  comm::Work published_;
};

}  // namespace lockstep::fsdp
