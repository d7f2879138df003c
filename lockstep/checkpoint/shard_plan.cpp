#include "lockstep/checkpoint/shard_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "lockstep/base/check.h"
#include "lockstep/base/element_bytes.h"

namespace lockstep::checkpoint {
namespace {

constexpr size_t kLengthBytes = 8;

std::string length_word(uint64_t length) {
  std::string word(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i) word[i] = static_cast<char>(length >> (8 * i) & 0xff);
  return word;
}

}  // namespace

int64_t Slice::num_bytes() const { return length * element_bytes(tensor.dtype); }

ShardPlan::ShardPlan(const std::vector<Slice>& slices, int rank) {
  info_.file = shard_file(rank);
  // Larger elements first: each slice is then aligned without a gap, which the format does not allow.
  std::vector<size_t> by_width(slices.size());
  std::iota(by_width.begin(), by_width.end(), size_t{0});
  std::stable_sort(by_width.begin(), by_width.end(), [&](size_t a, size_t b) {
    return element_bytes(slices[a].tensor.dtype) > element_bytes(slices[b].tensor.dtype);
  });

  Json header = {{"__metadata__", {{"format", "lockstep-shard"}, {"rank", std::to_string(rank)}}}};
  std::map<std::string, size_t> tensors;
  order_.resize(slices.size());
  int64_t next = 0;
  for (const size_t i : by_width) {
    const Slice& slice = slices[i];
    LOCKSTEP_CHECK(element_bytes(slice.tensor.dtype) > 0) << slice.tensor.dtype;
    const auto [known, is_new] = tensors.try_emplace(slice.tensor.name, info_.tensors.size());
    if (is_new) info_.tensors.push_back(slice.tensor);
    order_[i] = info_.slices.size();
    info_.slices.push_back({known->second, slice.offset, slice.length, next});
    const std::string name =
        fmt::format("{}[{}:{}]", slice.tensor.name, slice.offset, slice.offset + slice.length);
    header[name] = {{"dtype", slice.tensor.dtype},
                    {"shape", {slice.length}},
                    {"data_offsets", {next, next + slice.num_bytes()}}};
    next += slice.num_bytes();
  }
  std::string json = header.dump();
  json.append((kLengthBytes - json.size() % kLengthBytes) % kLengthBytes, ' ');
  header_ = length_word(json.size()) + json;
  for (StoredSlice& slice : info_.slices) slice.position += static_cast<int64_t>(header_.size());
  num_bytes_ = info_.num_bytes = static_cast<int64_t>(header_.size()) + next;
}

void ShardPlan::write_header(std::span<std::byte> image) const {
  LOCKSTEP_CHECK(static_cast<int64_t>(image.size()) == num_bytes_)
      << image.size() << " against " << num_bytes_;
  std::memcpy(image.data(), header_.data(), header_.size());
}

}  // namespace lockstep::checkpoint
