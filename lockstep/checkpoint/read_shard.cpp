#include "lockstep/checkpoint/read_shard.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <utility>

#include "lockstep/base/check.h"
#include "lockstep/base/sha256.h"
#include "lockstep/checkpoint/damaged.h"
#include "lockstep/storage/read_into.h"

namespace lockstep::checkpoint {
namespace {

constexpr int64_t kPieceBytes = 32 << 20;

// A stretch of the file, and where its bytes go.
struct Piece {
  int64_t begin = 0, num_bytes = 0;
  std::vector<std::span<std::byte>> parts;
};

// Cuts a file into pieces. What no copy wants goes to one of two buffers, in turns, so that a piece stays
// whole while the next one is read.
class Pieces {
 public:
  Pieces(std::vector<Copy> copies, int64_t file_bytes) : copies_(std::move(copies)), file_bytes_(file_bytes) {
    std::sort(copies_.begin(), copies_.end(), [](const Copy& a, const Copy& b) { return a.begin < b.begin; });
    for (size_t i = 1; i < copies_.size(); ++i) {
      LOCKSTEP_CHECK(copies_[i - 1].begin + copies_[i - 1].num_bytes <= copies_[i].begin) << copies_[i].begin;
    }
    // Uninitialized: memory that is never written to is never taken from the system.
    for (auto& buffer : unwanted_) buffer = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
  }

  bool done() const { return position_ == file_bytes_; }

  Piece next() {
    std::swap(unwanted_[0], unwanted_[1]);
    Piece piece{position_, std::min(kPieceBytes, file_bytes_ - position_), {}};
    const int64_t end = piece.begin + piece.num_bytes;
    while (position_ < end) {
      const auto [into, num_bytes] = next_part(piece.begin, end);
      piece.parts.emplace_back(into, static_cast<size_t>(num_bytes));
      position_ += num_bytes;
    }
    return piece;
  }

 private:
  // From position_ on, as far as it goes to one place.
  std::pair<std::byte*, int64_t> next_part(int64_t piece_begin, int64_t piece_end) {
    while (next_copy_ < copies_.size() &&
           copies_[next_copy_].begin + copies_[next_copy_].num_bytes <= position_) {
      ++next_copy_;
    }
    if (next_copy_ == copies_.size()) return {buffer_at(piece_begin), piece_end - position_};
    const Copy& copy = copies_[next_copy_];
    if (copy.begin > position_) return {buffer_at(piece_begin), std::min(copy.begin, piece_end) - position_};
    return {copy.into + (position_ - copy.begin),
            std::min(copy.begin + copy.num_bytes, piece_end) - position_};
  }
  std::byte* buffer_at(int64_t piece_begin) { return unwanted_[0].get() + (position_ - piece_begin); }

  std::vector<Copy> copies_;  // rising
  const int64_t file_bytes_;
  int64_t position_ = 0;
  size_t next_copy_ = 0;
  std::array<std::unique_ptr<std::byte[]>, 2> unwanted_;
};

void update(Sha256& hash, const Piece& piece, int64_t num_bytes) {
  for (const auto& part : piece.parts) {
    const int64_t count = std::min<int64_t>(num_bytes, static_cast<int64_t>(part.size()));
    hash.update(std::span<const std::byte>(part).first(static_cast<size_t>(count)));
    num_bytes -= count;
  }
}

}  // namespace

void read_shard(storage::ObjectStore& store, const Manifest& manifest, const ShardInfo& shard,
                std::vector<Copy> copies) {
  const storage::Key key = file_key(manifest.id, shard.file);
  const auto read = [&](const Piece& piece) {
    const auto num_read = storage::read_into(store, key, piece.begin, piece.parts);
    if (!num_read) throw DamagedError(fmt::format("{} is missing", key));
    return *num_read;
  };

  Sha256 hash;
  // One byte more than there should be: a file that grew is changed, too.
  Pieces pieces(std::move(copies), shard.num_bytes + 1);
  Piece piece = pieces.next();
  int64_t num_read = read(piece);
  int64_t total = num_read;
  while (num_read > 0) {
    Piece ahead;
    std::future<int64_t> reading;  // waits for its thread when it goes
    if (num_read == piece.num_bytes && !pieces.done()) {
      ahead = pieces.next();
      reading = std::async(std::launch::async, read, std::cref(ahead));
    }
    update(hash, piece, num_read);
    if (!reading.valid()) break;
    num_read = reading.get();
    total += num_read;
    piece = std::move(ahead);
  }
  if (total != shard.num_bytes) {
    throw DamagedError(fmt::format("{} has {} {} bytes; it was written with {}", key,
                                   total < shard.num_bytes ? "only" : "more than",
                                   std::min(total, shard.num_bytes), shard.num_bytes));
  }
  if (hash.hex() != shard.sha256) throw DamagedError(fmt::format("{} was changed: its SHA-256 differs", key));
}

}  // namespace lockstep::checkpoint
