// What to do with samples longer than a row, and with those that train nothing.
// T = sequence_length.
//
//   text      is cut into pieces of T tokens. A piece's last position predicts the first token
//             of the next piece, so that every token but the first is predicted once, however
//             it is cut; the next piece starts afresh at position 0.
//   messages  are truncated to their first T tokens, keeping what is trained among them.
//
// Nobody predicts the first token of a sample. A sample without any target is dropped and
// counted with its reason.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/data/token_store.h"

namespace lockstep::data {

enum class Overlong { kCut, kTruncate };

struct CutCounts {
  int64_t samples = 0;                     // given, dropped ones included
  int64_t tokens = 0;                      // in the pieces
  int64_t trained_tokens = 0;              // targets in the pieces
  int64_t cut_samples = 0;                 // became several pieces
  int64_t truncated_samples = 0;           // kept, but lost their end
  int64_t truncated_tokens = 0;            // how much, of the samples that were kept
  std::map<std::string, int64_t> dropped;  // samples, by reason
};

struct CutResult {
  std::vector<Piece> pieces;  // in the order of the samples
  CutCounts counts;
};

// `samples`: numbers of samples in the store.
CutResult cut(const TokenStore& store, std::span<const int64_t> samples, int64_t sequence_length,
              Overlong overlong);

}  // namespace lockstep::data
