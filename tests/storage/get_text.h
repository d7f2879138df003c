// What a store holds under a key, as text that tests can compare.
#pragma once

#include <optional>
#include <string>

#include "lockstep/storage/object_store.h"

namespace lockstep::storage {

inline std::optional<std::string> get_text(ObjectStore& store, const Key& key, ByteRange range = {}) {
  const auto bytes = store.get(key, range);
  return bytes ? std::optional<std::string>(as_text(*bytes)) : std::nullopt;
}

}  // namespace lockstep::storage
