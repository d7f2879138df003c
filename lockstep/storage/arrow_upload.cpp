#include "lockstep/storage/arrow_upload.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "lockstep/base/log.h"
#include "lockstep/storage/arrow_error.h"

namespace lockstep::storage {
namespace {

void never_destroy(std::shared_ptr<arrow::io::OutputStream> stream) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::shared_ptr<arrow::io::OutputStream>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(stream));
}

}  // namespace

ArrowUpload::ArrowUpload(std::shared_ptr<arrow::io::OutputStream> stream, std::string place)
    : stream_(std::move(stream)), place_(std::move(place)) {}

void ArrowUpload::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto window = bytes.first(std::min(bytes.size(), kWindowBytes));
    throw_if_failed(stream_->Write(window.data(), static_cast<int64_t>(window.size())), "write", place_);
    // Waits for the parts on their way: Arrow holds a copy of each.
    throw_if_failed(stream_->Flush(), "write", place_);
    bytes = bytes.subspan(window.size());
  }
}

void ArrowUpload::finish() { throw_if_failed(stream_->Close(), "write", place_); }

ArrowUpload::~ArrowUpload() {
  if (stream_->closed() || stream_->Abort().ok() || stream_->closed()) return;
  // The service could not be told. Arrow's stream closes itself when it is destroyed, and closing
  // publishes what has arrived as if it were the value, should the service be back by then. So this
  // one is never destroyed; it holds no more than a part.
  log::warning("storage: an unfinished upload of {} stays at the service: it is not visible, but costs money",
               place_);
  never_destroy(std::move(stream_));
}

}  // namespace lockstep::storage
