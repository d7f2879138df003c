#include "lockstep/data/cut.h"

#include <algorithm>

namespace lockstep::data {
namespace {

Piece piece_of(const TokenStore& store, int64_t begin, int64_t length, int64_t targets_end) {
  Piece piece{.begin = begin, .targets_end = targets_end, .length = int32_t(length)};
  for (int64_t next = begin + 1; next < std::min(begin + length + 1, targets_end); ++next) {
    piece.targets += store.trained(next);
  }
  return piece;
}

std::string drop_reason(const TokenStore& store, int64_t begin, int64_t end) {
  if (end - begin < 2) return "fewer than two tokens";
  for (int64_t next = begin + 1; next < end; ++next) {
    if (store.trained(next)) return "no trained token within sequence_length";
  }
  return "no trained token";
}

}  // namespace

CutResult cut(const TokenStore& store, std::span<const int64_t> samples, int64_t sequence_length,
              Overlong overlong) {
  CutResult result;
  auto& counts = result.counts;
  for (const int64_t sample : samples) {
    ++counts.samples;
    const int64_t begin = store.begin(sample), end = store.end(sample);
    const int64_t kept_end = overlong == Overlong::kTruncate ? std::min(end, begin + sequence_length) : end;
    int64_t pieces = 0;
    for (int64_t at = begin; at < kept_end; at += sequence_length) {
      const auto piece = piece_of(store, at, std::min(sequence_length, kept_end - at), kept_end);
      if (piece.targets == 0) continue;
      ++pieces;
      counts.tokens += piece.length;
      counts.trained_tokens += piece.targets;
      result.pieces.push_back(piece);
    }
    if (pieces == 0) {
      ++counts.dropped[drop_reason(store, begin, end)];
    } else if (kept_end < end) {
      ++counts.truncated_samples;
      counts.truncated_tokens += end - kept_end;
    }
    if (pieces > 1) ++counts.cut_samples;
  }
  return result;
}

}  // namespace lockstep::data
