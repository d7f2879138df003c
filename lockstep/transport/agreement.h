// What many pieces of evidence come to together.
#pragma once

#include <cstddef>
#include <numeric>
#include <set>
#include <vector>

#include "lockstep/transport/transport_word.h"

namespace lockstep::transport {

// Of transports: the one that all are. Known ones that differ are mixed, also beside unknown ones.
class Agreement {
 public:
  void add(Transport transport) { seen_.insert(transport); }
  bool empty() const { return seen_.empty(); }
  Transport result() const {
    std::set<Transport> known = seen_;
    known.erase(Transport::kUnknown);
    if (known.size() > 1) return Transport::kMixed;
    if (known.empty() || seen_.contains(Transport::kUnknown)) return Transport::kUnknown;
    return *known.begin();
  }

 private:
  std::set<Transport> seen_;
};

// Of connections with and without GPUDirect: yes or no when all are alike.
class GpuDirectCount {
 public:
  void add(bool some_with, bool some_without) {
    with_ = with_ || some_with;
    without_ = without_ || some_without;
  }
  GpuDirect result() const {
    if (with_ == without_) return GpuDirect::kUnknown;
    return with_ ? GpuDirect::kYes : GpuDirect::kNo;
  }

 private:
  bool with_ = false, without_ = false;
};

// Of things joined two by two: whether all hang together.
class Joined {
 public:
  explicit Joined(size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }
  void join(size_t a, size_t b) { parent_[root(a)] = root(b); }
  bool all() {
    for (size_t i = 1; i < parent_.size(); ++i) {
      if (root(i) != root(0)) return false;
    }
    return true;
  }

 private:
  size_t root(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  std::vector<size_t> parent_;
};

}  // namespace lockstep::transport
