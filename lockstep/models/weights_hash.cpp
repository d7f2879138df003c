#include "lockstep/models/weights_hash.h"

#include <algorithm>
#include <bit>

#include "lockstep/base/check.h"

namespace lockstep::models {

static_assert(std::endian::native == std::endian::little, "blocks are hashed as little-endian float32");

namespace {
constexpr int64_t kBlockValues = (int64_t{1} << 20) / static_cast<int64_t>(sizeof(float));
}

void WeightsHash::start(const std::string& name) {
  LOCKSTEP_CHECK(name > name_) << name << " must come before " << name_;
  end_block();
  name_ = name;
  list_.update(name + "\n");
}

void WeightsHash::append(std::span<const float> values) {
  while (!values.empty()) {
    if (!block_) block_.emplace();
    const auto count = std::min(values.size(), static_cast<size_t>(kBlockValues - block_values_));
    block_->update(std::as_bytes(values.first(count)));
    block_values_ += static_cast<int64_t>(count);
    values = values.subspan(count);
    if (block_values_ == kBlockValues) end_block();
  }
}

void WeightsHash::end_block() {
  if (!block_) return;
  list_.update(block_->hex() + "\n");
  block_.reset();
  block_values_ = 0;
}

std::string WeightsHash::finish() {
  end_block();
  return list_.hex();
}

}  // namespace lockstep::models
