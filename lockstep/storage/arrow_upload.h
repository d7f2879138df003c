// One value on its way into an object store.
#pragma once

#include <arrow/io/interfaces.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace lockstep::storage {

// The value appears with finish(), whole; dropped before, it never does.
class ArrowUpload {
 public:
  // `place` is for messages.
  ArrowUpload(std::shared_ptr<arrow::io::OutputStream> stream, std::string place);
  ArrowUpload(const ArrowUpload&) = delete;
  ArrowUpload& operator=(const ArrowUpload&) = delete;
  ~ArrowUpload();

  // Throws IoError. Keeps no reference to `bytes`; holds copies of at most kWindowBytes of them.
  void write(std::span<const std::byte> bytes);
  void finish();

  // Eight of the parts of 10 MiB that Arrow sends to S3, one for each of its threads.
  static constexpr size_t kWindowBytes = size_t{80} << 20;

 private:
  std::shared_ptr<arrow::io::OutputStream> stream_;
  std::string place_;
};

}  // namespace lockstep::storage
