// Where a parameter's gradient is wanted, so that who computes it can write it there at once.
//
// Who shards a model keeps the gradients of many parameters in one buffer. A layer whose backward pass makes
// its weight's gradient asks here for the memory; autograd passes on what it gets as any other gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <vector>

namespace lockstep::nn {

enum class HomeUse {
  kOnce,   // to write to. What was lent once must not be lent again before the gradient has arrived, since a
           // weight that is used twice has two gradients, which autograd adds
  kStays,  // the same, only of memory that is this parameter's home in all later steps too
  kBegun,  // to add to: what was lent in this backward, whose gradient has not arrived yet
};

// Memory of its parameter's sizes and dtype, or undefined: not now.
using GradientHome = std::function<at::Tensor(HomeUse)>;

// Until remove_gradient_home, which must come before `parameter` or what `home` refers to is gone.
// Thread-safe.
void set_gradient_home(const at::Tensor& parameter, GradientHome home);
void remove_gradient_home(const at::Tensor& parameter);

// For who will write gradients to the same addresses again in later steps. While it lives, this thread's
// new_gradient gives homes that stay, or fresh memory. Not nested.
class LastingHomes {
 public:
  LastingHomes();
  ~LastingHomes();
  LastingHomes(const LastingHomes&) = delete;
  LastingHomes& operator=(const LastingHomes&) = delete;
  // The home that was lent for `parameter`; null: none.
  const void* given(const at::Tensor& parameter) const;

 private:
  std::map<const void*, const void*> given_;  // by parameter
};

// In a later step: whether `home`, given for `parameter` by LastingHomes, can be written to now. It is lent
// then, as by new_gradient.
bool lend_again(const at::Tensor& parameter, const void* home);

// Memory for the gradient of `parameter`, without values: its home, or fresh.
at::Tensor new_gradient(const at::Tensor& parameter);

// The same for several parameters [n_i, ...], as one tensor [sum of n_i, ...]: their homes where these lie
// side by side, else fresh.
at::Tensor new_joint_gradient(at::TensorList parameters);

// Where a part of the gradient of `parameter` lies already and is on its way to its home; undefined: none
// does, or its memory was not lent. Who has another part may add to it and pass on no gradient, once: with a
// third part autograd would have made a sum elsewhere.
at::Tensor begun_gradient(const at::Tensor& parameter);

}  // namespace lockstep::nn
