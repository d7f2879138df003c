// The memory of gathered units: blocks that are used again and again, each step in the same way.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace lockstep::fsdp {

// Of the free blocks of a size always the one with the lowest address is given out. So where each step takes
// and gives back in the same order, a unit lies at the same address in every step, and nothing is allocated
// after the first: what kernels are recorded with stays true (nn/recorded.h). One thread; work on the blocks
// goes through one stream, or waits for it.
class UnitMemory {
 public:
  // keeps: false frees what is given back.
  UnitMemory(c10::Device device, bool keeps) : device_(device), keeps_(keeps) {}
  c10::DataPtr take(size_t bytes);
  void give(c10::DataPtr block, size_t bytes);
  // While on, blocks that have to be allocated are freed again when they are given back.
  void set_lending(bool lending) { lending_ = lending; }
  int64_t free_bytes() const;

 private:
  c10::Device device_;
  bool keeps_;
  bool lending_ = false;
  std::map<size_t, std::map<const void*, c10::DataPtr>> free_;  // by size, by address
  std::set<const void*> kept_;
};

}  // namespace lockstep::fsdp
