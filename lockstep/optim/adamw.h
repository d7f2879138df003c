// AdamW over flat parameter shards, with torch.optim.AdamW's results (kernels/adamw.h has
// the formula). Works on any leaf tensors; each must own its memory, as the shards from
// prepare_model do. Elementwise, so sharding changes nothing, and no communication.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::optim {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;

  void validate() const;  // throws ConfigError: "optimizer.eps must not be negative, got -1"
};

// A piece of the optimizer's state: "exp_avg.3" belongs to the parameter of index 3.
struct NamedState {
  std::string name;
  at::Tensor tensor;
};

class AdamW {
 public:
  // Keeps the tensors (sharing memory with the caller) and allocates two of the same size
  // and dtype for each, filled with zeros. Throws ConfigError naming the index of a
  // parameter that is not float32, float64 or bfloat16, not contiguous, given twice, or a view of a
  // larger buffer: a module's own parameters() are such views once it is sharded.
  explicit AdamW(std::vector<at::Tensor> parameters, AdamWOptions options = {});
  AdamW(AdamW&&) = default;  // moves only: a copy would share the state
  AdamW& operator=(AdamW&&) = default;

  // One update from each parameter's grad(). A parameter whose grad() is undefined keeps
  // its value and state, as in torch. Gradients count times `grad_scale` (fsdp::clip_scale) and stay as
  // they are: clipping costs no pass over memory. Nothing is recorded for autograd.
  // `copies`, empty or one for each parameter, defined or not: bfloat16 tensors that take the new values too
  // (fsdp::ShardedModule::compute_copies).
  void step(double grad_scale = 1, const std::vector<at::Tensor>& copies = {});
  void zero_grad();  // drops the gradients' memory: grad() is undefined afterwards

  void set_lr(double lr) { options_.lr = lr; }
  double lr() const { return options_.lr; }
  const AdamWOptions& options() const { return options_; }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

  // For checkpoints: "exp_avg.<i>" and "exp_avg_sq.<i>", each [S_i] and sharing memory with
  // the optimizer, and "steps.<i>", one int64: how many updates parameter i has had.
  std::vector<NamedState> state() const;
  // Copies values in, by name, whatever the order and device. Throws ConfigError, before
  // changing anything, for a missing or unknown name or another size.
  void load_state(const std::vector<NamedState>& state);

 private:
  struct Slot {
    at::Tensor exp_avg, exp_avg_sq;  // [S], as the parameter
    at::Tensor steps;                // [1] int64 on CPU
  };

  AdamWOptions options_;
  std::vector<at::Tensor> parameters_;
  std::vector<Slot> slots_;  // one for each parameter
};

}  // namespace lockstep::optim
