// Writes safetensors files as Hugging Face lays them out: model.safetensors, or, above a size, shards
// model-00001-of-0000N.safetensors with model.safetensors.index.json.
//
//   SafetensorsWriter writer(folder, {{"a", "F32", {2, 3}}, {"b", "BF16", {5}}});
//   writer.write("a", bytes_of_a);
//   writer.write("b", bytes_of_b);
//   writer.finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/file_descriptor.h"

namespace lockstep::models {

struct TensorPlan {
  std::string name;
  std::string dtype;  // F64, F32, F16 or BF16
  std::vector<int64_t> shape;

  int64_t num_bytes() const;
};

class SafetensorsWriter {
 public:
  static constexpr int64_t kMaxFileBytes = 5'000'000'000;

  // Lays out `tensors` in this order; a file takes as many as stay within `max_file_bytes`, and at least one.
  // The folder must exist, and is the caller's to rename or remove: files appear in it before they are whole.
  SafetensorsWriter(std::string folder, std::vector<TensorPlan> tensors,
                    int64_t max_file_bytes = kMaxFileBytes);

  // The next tensor's bytes, little-endian and row-major. CHECKs name and size. Throws IoError.
  void write(const std::string& name, std::span<const std::byte> bytes);

  // After the last tensor: writes the index, if there are shards, and returns once all is on the disk.
  void finish();

 private:
  struct File {
    std::string name;
    size_t first = 0, last = 0;  // tensors [first, last)
  };

  void open_next_file();
  void close_file();
  void write_index() const;

  std::string folder_;
  std::vector<TensorPlan> tensors_;
  std::vector<File> files_;
  size_t next_tensor_ = 0;
  size_t next_file_ = 0;
  FileDescriptor open_;  // files_[next_file_ - 1], while it is being written
};

}  // namespace lockstep::models
