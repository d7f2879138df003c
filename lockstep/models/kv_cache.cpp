#include "lockstep/models/kv_cache.h"

#include <ATen/ops/empty.h>

#include "lockstep/base/check.h"

namespace lockstep::models {

KeyValueCache::KeyValueCache(int64_t num_layers, int64_t capacity)
    : layers_(static_cast<size_t>(num_layers)), capacity_(capacity) {}

std::pair<at::Tensor, at::Tensor> KeyValueCache::append(int64_t layer, const at::Tensor& keys,
                                                        const at::Tensor& values) {
  Layer& seen = layers_[static_cast<size_t>(layer)];
  const int64_t tokens = keys.size(2);
  LOCKSTEP_CHECK(seen.length + tokens <= capacity_)
      << seen.length << " + " << tokens << " tokens in a cache for " << capacity_;
  if (!seen.keys.defined()) {
    const auto room = {keys.size(0), keys.size(1), capacity_, keys.size(3)};
    seen.keys = at::empty(room, keys.options());
    seen.values = at::empty(room, values.options());
  }
  seen.keys.narrow(2, seen.length, tokens).copy_(keys);
  seen.values.narrow(2, seen.length, tokens).copy_(values);
  seen.length += tokens;
  return {seen.keys.narrow(2, 0, seen.length), seen.values.narrow(2, 0, seen.length)};
}

}  // namespace lockstep::models
