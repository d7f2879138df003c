// Reads the tensors of a Hugging Face folder: model.safetensors, or the shards that
// model.safetensors.index.json names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lockstep/base/file_descriptor.h"
#include "lockstep/models/safetensors_header.h"

namespace lockstep::models {

class SafetensorsReader {
 public:
  // Opens every file and reads the headers, not the tensors. With an index, every shard that it names must be
  // there and hold what the index says, and nothing else; model.safetensors beside an index is refused, since
  // either could be meant. Throws ConfigError.
  explicit SafetensorsReader(const std::string& folder);
  // One file by its own name.
  static SafetensorsReader file(const std::string& path);

  // In the order of the files, then of the bytes.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  // Null when there is none. Lives as long as the reader.
  const StoredTensor* find(const std::string& name) const;
  const std::string& file_of(const StoredTensor& tensor) const { return files_[tensor.file].path; }

  // Fills `out` with the tensor's bytes from `first_byte` on. Any thread. Throws IoError when the
  // disk fails, ConfigError when the file shrank since it was opened.
  void read(const StoredTensor& tensor, int64_t first_byte, std::span<std::byte> out) const;

 private:
  SafetensorsReader() = default;

  struct File {
    std::string path;
    FileDescriptor descriptor;
  };

  void open_file(const std::string& path);
  void open_index(const std::string& folder, const std::string& index_path);

  std::vector<File> files_;
  std::vector<StoredTensor> tensors_;
  std::unordered_map<std::string, size_t> by_name_;  // into tensors_
};

}  // namespace lockstep::models
