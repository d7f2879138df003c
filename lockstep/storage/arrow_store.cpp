#include "lockstep/storage/arrow_store.h"

#include <arrow/io/interfaces.h>
#include <arrow/util/future.h>
#include <arrow/util/thread_pool.h>
#include <fmt/core.h>

#include <algorithm>

#include "lockstep/base/check.h"
#include "lockstep/base/io_error.h"
#include "lockstep/storage/arrow_error.h"
#include "lockstep/storage/arrow_upload.h"
#include "lockstep/storage/key.h"

namespace lockstep::storage {
namespace {

constexpr int64_t kPieceBytes = int64_t{64} << 20;

// Fills `out` with the file's bytes from `offset` on, pieces at once on Arrow's threads.
void read_all(const std::shared_ptr<arrow::io::RandomAccessFile>& file, int64_t offset,
              std::span<std::byte> out, const std::string& place) {
  // Google's file opens itself when it is first looked at, which no two threads may do at once.
  (void)file->closed();
  std::vector<arrow::Future<int64_t>> pieces;
  for (size_t done = 0; done < out.size(); done += kPieceBytes) {
    const auto piece = out.subspan(done, std::min<size_t>(kPieceBytes, out.size() - done));
    const int64_t begin = offset + static_cast<int64_t>(done);
    pieces.push_back(arrow::DeferNotOk(arrow::io::default_io_context().executor()->Submit(
        [=] { return file->ReadAt(begin, static_cast<int64_t>(piece.size()), piece.data()); })));
  }
  // All of them first: those still on their way write into `out`.
  for (const auto& piece : pieces) piece.Wait();

  int64_t total = 0;
  for (const auto& piece : pieces) total += value_or_throw(piece.result(), "read", place);
  if (total != static_cast<int64_t>(out.size())) {
    throw IoError(
        fmt::format("storage: cannot read {}: got {} of {} bytes from {} on; somebody else "
                    "writes there",
                    place, total, out.size(), offset));
  }
}

}  // namespace

ArrowStore::ArrowStore(std::shared_ptr<arrow::fs::FileSystem> files, std::string scheme, std::string root)
    : files_(std::move(files)), scheme_(std::move(scheme)), root_(std::move(root)) {}

std::string ArrowStore::path_of(const Key& key) const {
  check_key(key);
  return fmt::format("{}/{}", root_, key);
}

std::string ArrowStore::place_of(const Key& key) const {
  return fmt::format("{}://{}{}{}", scheme_, root_, key.empty() ? "" : "/", key);
}

void ArrowStore::put(const Key& key, std::span<const std::byte> value) {
  const std::string place = place_of(key);
  ArrowUpload upload(value_or_throw(files_->OpenOutputStream(path_of(key)), "write", place), place);
  upload.write(value);
  upload.finish();
}

std::optional<Bytes> ArrowStore::get(const Key& key, ByteRange range) {
  LOCKSTEP_CHECK(range.offset >= 0 && range.length >= 0) << range.offset << ", " << range.length;
  const std::string place = place_of(key);
  const auto opened = files_->OpenInputFile(path_of(key));
  if (is_not_there(opened.status())) return std::nullopt;
  const auto file = value_or_throw(opened, "read", place);

  const int64_t size = value_or_throw(file->GetSize(), "read", place);
  const int64_t available = std::max<int64_t>(0, size - range.offset);
  Bytes bytes(static_cast<size_t>(std::min(range.length, available)));
  read_all(file, range.offset, bytes, place);
  return bytes;
}

std::vector<Key> ArrowStore::list(const Key& prefix) {
  const Key folder = folder_of_prefix(prefix);
  arrow::fs::FileSelector selector;
  selector.base_dir = folder.empty() ? root_ : path_of(folder);
  selector.recursive = true;
  selector.allow_not_found = true;
  const auto found = value_or_throw(files_->GetFileInfo(selector), "list", place_of(folder));

  std::vector<Key> keys;
  for (const arrow::fs::FileInfo& info : found) {
    if (!info.IsFile()) continue;
    Key key = info.path().substr(root_.size() + 1);
    if (key.starts_with(prefix)) keys.push_back(std::move(key));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

void ArrowStore::remove(const Key& key) {
  const arrow::Status status = files_->DeleteFile(path_of(key));
  if (!is_not_there(status)) throw_if_failed(status, "remove", place_of(key));
}

void ArrowStore::append(const Key& key, std::span<const std::byte>) {
  throw PermanentIoError(
      fmt::format("storage: cannot append to {}: object stores only replace whole values; keep run.dir on a "
                  "path, and give the bucket to checkpoint.storage",
                  place_of(key)));
}

void ArrowStore::sweep(const Key&) {}

}  // namespace lockstep::storage
