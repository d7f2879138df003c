#include "lockstep/fsdp/unit_memory.h"

#include <utility>

namespace lockstep::fsdp {

c10::DataPtr UnitMemory::take(size_t bytes) {
  auto& blocks = free_[bytes];
  if (!blocks.empty()) return std::move(blocks.extract(blocks.begin()).mapped());
  c10::DataPtr block = c10::GetAllocator(device_.type())->allocate(bytes);
  if (keeps_ && !lending_) kept_.insert(block.get());
  return block;
}

void UnitMemory::give(c10::DataPtr block, size_t bytes) {
  const void* address = block.get();
  if (kept_.count(address) > 0) free_[bytes].emplace(address, std::move(block));
}

int64_t UnitMemory::free_bytes() const {
  size_t total = 0;
  for (const auto& [bytes, blocks] : free_) total += bytes * blocks.size();
  return static_cast<int64_t>(total);
}

}  // namespace lockstep::fsdp
