// Strings as small numbers, so that evidence about millions of connections stays small.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lockstep::transport {

class NameTable {
 public:
  using Id = uint16_t;
  static constexpr Id kNone = 0;  // the empty string

  NameTable() { names_.emplace_back(); }

  // kNone for the empty string, and for new ones when kMaxNames are known: garbage in a log must
  // not grow this without bound, and a name that is not known proves nothing.
  Id id(std::string_view name) {
    if (name.empty()) return kNone;
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    if (names_.size() >= kMaxNames) return kNone;
    names_.emplace_back(name);
    ids_.emplace(names_.back(), static_cast<Id>(names_.size() - 1));
    return static_cast<Id>(names_.size() - 1);
  }
  const std::string& name(Id id) const { return names_[id]; }
  size_t size() const { return names_.size(); }

 private:
  static constexpr size_t kMaxNames = 1 << 14;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, Id, Hash, std::equal_to<>> ids_;
};

}  // namespace lockstep::transport
