#include "lockstep/storage/key.h"

#include "lockstep/base/check.h"

namespace lockstep::storage {
namespace {

bool is_key(std::string_view key) {
  if (key.ends_with(kPartial)) return false;
  while (true) {
    const size_t slash = key.find('/');
    const std::string_view part = key.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    key.remove_prefix(slash + 1);
  }
}

}  // namespace

void check_key(const Key& key) { LOCKSTEP_CHECK(is_key(key)) << "'" << key << "' is not a key"; }

Key folder_of_prefix(const Key& prefix) {
  const size_t last_slash = prefix.rfind('/');
  const Key folder = last_slash == Key::npos ? "" : prefix.substr(0, last_slash);
  if (!folder.empty()) check_key(folder);
  return folder;
}

}  // namespace lockstep::storage
