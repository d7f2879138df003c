#include "lockstep/models/safetensors_writer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "lockstep/base/check.h"
#include "lockstep/base/element_bytes.h"
#include "lockstep/base/io_error.h"
#include "lockstep/base/json.h"
#include "lockstep/models/safetensors_header.h"

namespace lockstep::models {
namespace {

FileDescriptor create(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) throw_io_error("create", path, errno);
  return file;
}

void write_all(int descriptor, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t done = write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw_io_error("write", path, errno);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

// Length word and JSON, padded with spaces so that the data starts at a multiple of 8.
std::string header_of(std::span<const TensorPlan> tensors) {
  Json header = {{"__metadata__", {{"format", "pt"}}}};
  int64_t offset = 0;
  for (const TensorPlan& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + tensor.num_bytes()}}};
    offset += tensor.num_bytes();
  }
  std::string json = header.dump();
  json.append((8 - json.size() % 8) % 8, ' ');
  std::string bytes;
  for (int i = 0; i < kHeaderLengthBytes; ++i)
    bytes.push_back(static_cast<char>(json.size() >> (8 * i) & 0xff));
  return bytes + json;
}

}  // namespace

int64_t TensorPlan::num_bytes() const {
  int64_t bytes = element_bytes(dtype);
  for (const int64_t size : shape) bytes *= size;
  return bytes;
}

SafetensorsWriter::SafetensorsWriter(std::string folder, std::vector<TensorPlan> tensors,
                                     int64_t max_file_bytes)
    : folder_(std::move(folder)), tensors_(std::move(tensors)) {
  int64_t file_bytes = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const int64_t bytes = tensors_[i].num_bytes();
    if (files_.empty() || file_bytes + bytes > max_file_bytes) {
      files_.push_back({.first = i, .last = i});
      file_bytes = 0;
    }
    files_.back().last = i + 1;
    file_bytes += bytes;
  }
  for (size_t i = 0; i < files_.size(); ++i) {
    files_[i].name = files_.size() == 1
                         ? "model.safetensors"
                         : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, files_.size());
  }
}

void SafetensorsWriter::write(const std::string& name, std::span<const std::byte> bytes) {
  LOCKSTEP_CHECK(next_tensor_ < tensors_.size()) << name << " after the last tensor";
  const TensorPlan& expected = tensors_[next_tensor_];
  LOCKSTEP_CHECK(name == expected.name) << name << " where " << expected.name << " comes next";
  LOCKSTEP_CHECK(static_cast<int64_t>(bytes.size()) == expected.num_bytes())
      << name << ": " << bytes.size() << " bytes, planned " << expected.num_bytes();
  if (!open_) open_next_file();
  const File& file = files_[next_file_ - 1];
  write_all(open_.get(), bytes, folder_ + "/" + file.name);
  ++next_tensor_;
  if (next_tensor_ == file.last) close_file();
}

void SafetensorsWriter::open_next_file() {
  const File& file = files_[next_file_++];
  const std::string path = folder_ + "/" + file.name;
  open_ = create(path);
  const std::string header = header_of(std::span(tensors_).subspan(file.first, file.last - file.first));
  write_all(open_.get(), std::as_bytes(std::span(header)), path);
}

void SafetensorsWriter::close_file() {
  if (fsync(open_.get()) != 0) throw_io_error("write", folder_ + "/" + files_[next_file_ - 1].name, errno);
  open_.reset();
}

void SafetensorsWriter::finish() {
  LOCKSTEP_CHECK(next_tensor_ == tensors_.size()) << tensors_[next_tensor_].name << " was not written";
  if (files_.size() > 1) write_index();
}

void SafetensorsWriter::write_index() const {
  Json weight_map = Json::object();
  int64_t total = 0;
  for (const File& file : files_) {
    for (size_t i = file.first; i < file.last; ++i) {
      weight_map[tensors_[i].name] = file.name;
      total += tensors_[i].num_bytes();
    }
  }
  const Json index = {{"metadata", {{"total_size", total}}}, {"weight_map", weight_map}};
  const std::string text = index.dump(2) + "\n";
  const std::string path = folder_ + "/model.safetensors.index.json";
  const FileDescriptor file = create(path);
  write_all(file.get(), std::as_bytes(std::span(text)), path);
  if (fsync(file.get()) != 0) throw_io_error("write", path, errno);
}

}  // namespace lockstep::models
