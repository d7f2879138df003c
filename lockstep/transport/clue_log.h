// The lines of a log that explain it: clues, NCCL's warnings, a bootstrap that nobody reaches.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lockstep/transport/log_record.h"
#include "lockstep/transport/quote.h"

namespace lockstep::transport {

class ClueLog {
 public:
  struct Seen {
    int clue = 0;        // index into clues()
    uint64_t count = 0;  // lines
    Quote first;
  };

  // `quote` makes the quote of the record's line; it is called only where one is kept.
  template <typename MakeQuote>
  void add(const LogRecord& record, MakeQuote&& quote) {
    if (!may_tell(record)) return;
    const int clue = clue_of(record);
    if (clue >= 0) {
      Seen* seen = find(clue);
      if (seen == nullptr) seen = &seen_.emplace_back(Seen{clue, 0, quote()});
      seen->count += record.repeats;
    }
    if (record.kind == LogRecord::Kind::kWarning && warnings_.size() < kMaxWarnings) add_warning(quote());
  }
  void add_loopback(Quote quote) {
    if (!loopback_bootstrap_) loopback_bootstrap_ = std::move(quote);
  }
  // Takes over what `other` holds; its quotes' sources become `first_source` later ones.
  void absorb(ClueLog&& other, uint32_t first_source);

  const std::vector<Seen>& seen() const { return seen_; }
  const std::vector<Quote>& warnings() const { return warnings_; }  // the first different ones
  // A bootstrap on 127.0.0.1, which no other host reaches.
  const std::optional<Quote>& loopback_bootstrap() const { return loopback_bootstrap_; }

 private:
  static constexpr size_t kMaxWarnings = 16;

  static bool may_tell(const LogRecord& record);
  int clue_of(const LogRecord& record);
  Seen* find(int clue);
  void add_warning(Quote warning);

  // All ranks print the same lines: what they are is remembered, by a hash of the text.
  struct Remembered {
    uint64_t hash = 0;
    int clue = 0;
  };
  std::array<Remembered, 256> remembered_{};
  std::vector<Seen> seen_;
  std::vector<Quote> warnings_;
  std::optional<Quote> loopback_bootstrap_;
};

}  // namespace lockstep::transport
