// The header of a safetensors file: which tensors it holds, and where.
//
//   8 bytes           N, little-endian
//   N bytes           JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}
//   the rest          the tensors' bytes, little-endian, row-major, at begin..end from here
//
// Tensors cover the rest without gap or overlap. "__metadata__" maps strings to strings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::models {

struct StoredTensor {
  std::string name;
  std::string dtype;  // F64, F32, F16, BF16, I64, ...
  std::vector<int64_t> shape;
  int64_t offset = 0;     // of the first byte, from the start of the file
  int64_t num_bytes = 0;  // elements * element_bytes(dtype)
  size_t file = 0;        // which of the reader's files

  int64_t numel() const;
};

// Bytes of the length word before the JSON.
constexpr int64_t kHeaderLengthBytes = 8;
// Longest JSON accepted; every other reader of the format has the same bound.
constexpr int64_t kMaxHeaderBytes = 100'000'000;

// "[2,3]".
std::string shape_words(std::span<const int64_t> shape);

// The length of the JSON, given the file's first bytes (8, or as many as the file has) and size.
// Throws ConfigError when the file cannot hold what is claimed.
int64_t header_json_bytes(std::span<const std::byte> first_bytes, int64_t file_bytes,
                          const std::string& path);

// The tensors described by `json`, by offset. Checks every entry against the size of the file: dtype, shape,
// bytes = shape * dtype, inside the file, no overlap, no gap, no name twice. Never crashes, whatever the
// bytes. Throws ConfigError with file, tensor, sizes and way out.
std::vector<StoredTensor> parse_header(std::string_view json, int64_t file_bytes, const std::string& path);

}  // namespace lockstep::models
