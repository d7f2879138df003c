#include "lockstep/models/safetensors_header.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "lockstep/base/element_bytes.h"
#include "lockstep/base/error.h"
#include "lockstep/models/json_file.h"

namespace lockstep::models {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw ConfigError(fmt::format("model: {}: {}. Download the file again, or save it again", path, what));
}

bool is_size(const Json& value) {
  return value.is_number_unsigned() && value.get<uint64_t>() <= uint64_t{INT64_MAX};
}

StoredTensor parse_tensor(const std::string& name, const Json& entry, int64_t data_start, int64_t data_bytes,
                          const std::string& path) {
  const auto refuse_tensor = [&](const std::string& what) {
    refuse(path, fmt::format("tensor {} {}", json_words(name), what));
  };
  const bool complete = entry.is_object() && entry.contains("dtype") && entry["dtype"].is_string() &&
                        entry.contains("shape") && entry["shape"].is_array() &&
                        entry.contains("data_offsets") && entry["data_offsets"].is_array() &&
                        entry["data_offsets"].size() == 2;
  if (!complete) refuse_tensor("has no dtype, shape and data_offsets");

  StoredTensor tensor{.name = name, .dtype = entry["dtype"].get<std::string>()};
  int64_t expected_bytes = element_bytes(tensor.dtype);
  if (expected_bytes == 0) refuse_tensor(fmt::format("has the unknown dtype {}", json_words(tensor.dtype)));
  for (const Json& size : entry["shape"]) {
    if (!is_size(size)) refuse_tensor("has a shape that is not a list of sizes");
    tensor.shape.push_back(size.get<int64_t>());
  }
  // Zero first: [huge, huge, 0] is a legal shape and overflows nothing.
  if (std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end()) expected_bytes = 0;
  for (const int64_t size : tensor.shape) {
    if (expected_bytes != 0 && __builtin_mul_overflow(expected_bytes, size, &expected_bytes)) {
      refuse_tensor(fmt::format("has the impossible shape {}", shape_words(tensor.shape)));
    }
  }

  const Json& begin = entry["data_offsets"][0];
  const Json& end = entry["data_offsets"][1];
  if (!is_size(begin) || !is_size(end) || begin.get<int64_t>() > end.get<int64_t>()) {
    refuse_tensor(fmt::format("has the impossible data_offsets {}", json_words(entry["data_offsets"])));
  }
  tensor.num_bytes = end.get<int64_t>() - begin.get<int64_t>();
  if (tensor.num_bytes != expected_bytes) {
    refuse_tensor(fmt::format("has {} bytes, but {} {} takes {}", tensor.num_bytes, tensor.dtype,
                              shape_words(tensor.shape), expected_bytes));
  }
  if (end.get<int64_t>() > data_bytes) {
    refuse_tensor(fmt::format("ends at byte {} of the data, but the file is truncated: it holds {}",
                              end.get<int64_t>(), data_bytes));
  }
  tensor.offset = data_start + begin.get<int64_t>();
  return tensor;
}

// With every tensor inside the file, its own size right and no gap, nothing can overlap either.
void check_coverage(const std::vector<StoredTensor>& tensors, int64_t data_start, int64_t file_bytes,
                    const std::string& path) {
  int64_t next = data_start;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.offset != next) {
      refuse(path, fmt::format("tensor {} {} at byte {}; it should start at {}", json_words(tensor.name),
                               tensor.offset < next ? "overlaps the one before it" : "leaves a gap before it",
                               tensor.offset - data_start, next - data_start));
    }
    next += tensor.num_bytes;
  }
  if (next != file_bytes) {
    refuse(path, fmt::format("its tensors take {} bytes, but it holds {}", next - data_start,
                             file_bytes - data_start));
  }
}

}  // namespace

int64_t StoredTensor::numel() const { return num_bytes / element_bytes(dtype); }

std::string shape_words(std::span<const int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

int64_t header_json_bytes(std::span<const std::byte> first_bytes, int64_t file_bytes,
                          const std::string& path) {
  if (first_bytes.size() < kHeaderLengthBytes) {
    refuse(path, fmt::format("{} bytes are too short for a safetensors file", file_bytes));
  }
  uint64_t length = 0;
  for (int i = kHeaderLengthBytes - 1; i >= 0; --i)
    length = length << 8 | std::to_integer<uint64_t>(first_bytes[i]);
  if (length > static_cast<uint64_t>(kMaxHeaderBytes)) {
    refuse(path,
           fmt::format("its header claims {} bytes, more than the {} allowed; this is no safetensors file",
                       length, kMaxHeaderBytes));
  }
  const auto json_bytes = static_cast<int64_t>(length);
  if (json_bytes > file_bytes - kHeaderLengthBytes) {
    refuse(path,
           fmt::format("its header claims {} bytes, but the file is truncated: it has {} after the length",
                       json_bytes, file_bytes - kHeaderLengthBytes));
  }
  return json_bytes;
}

std::vector<StoredTensor> parse_header(std::string_view json, int64_t file_bytes, const std::string& path) {
  const Json header = parse_json(json, path + " (header)");
  const int64_t data_start = kHeaderLengthBytes + static_cast<int64_t>(json.size());
  std::vector<StoredTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;  // notes of whoever wrote the file
    tensors.push_back(parse_tensor(name, entry, data_start, file_bytes - data_start, path));
  }
  std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::tie(a.offset, a.num_bytes) < std::tie(b.offset, b.num_bytes);
  });
  check_coverage(tensors, data_start, file_bytes, path);
  return tensors;
}

}  // namespace lockstep::models
