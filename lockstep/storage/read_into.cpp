#include "lockstep/storage/read_into.h"

#include <algorithm>
#include <cstring>

namespace lockstep::storage {
namespace {

int64_t size_of(Parts parts) {
  int64_t size = 0;
  for (const auto& part : parts) size += static_cast<int64_t>(part.size());
  return size;
}

}  // namespace

std::optional<int64_t> read_into(ObjectStore& store, const Key& key, int64_t offset, Parts parts) {
  if (auto* direct = dynamic_cast<DirectReads*>(&store)) return direct->get_into(key, offset, parts);
  const auto bytes = store.get(key, {offset, size_of(parts)});
  if (!bytes) return std::nullopt;
  std::span<const std::byte> rest = *bytes;
  for (const auto& part : parts) {
    const auto piece = rest.first(std::min(part.size(), rest.size()));
    if (!piece.empty()) std::memcpy(part.data(), piece.data(), piece.size());
    rest = rest.subspan(piece.size());
  }
  return static_cast<int64_t>(bytes->size());
}

}  // namespace lockstep::storage
