// The rules of keys, which every store checks (object_store.h).
#pragma once

#include "lockstep/storage/object_store.h"

namespace lockstep::storage {

// What ends a name that is not a key's: a file that is being written.
inline constexpr std::string_view kPartial = ".partial";

// CHECKs that `key` is one.
void check_key(const Key& key);

// The folder that holds all keys that start with `prefix`: "a/b" for "a/b/c", "" for "a".
Key folder_of_prefix(const Key& prefix);

}  // namespace lockstep::storage
