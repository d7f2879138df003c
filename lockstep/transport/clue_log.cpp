#include "lockstep/transport/clue_log.h"

#include <functional>
#include <string_view>

#include "lockstep/transport/clue.h"

namespace lockstep::transport {

// Searching for every clue costs a microsecond; lines that can be none are most of a log.
bool ClueLog::may_tell(const LogRecord& record) {
  if (record.kind != LogRecord::Kind::kInfo) return true;
  for (const std::string_view begin :
       {"NET/", "NCCL_", "Failed to ", "External ", "Call to ", "Mismatched ", "Error", "Bootstrap"}) {
    if (record.text.starts_with(begin)) return true;
  }
  return false;
}

int ClueLog::clue_of(const LogRecord& record) {
  const uint64_t hash = std::hash<std::string_view>{}(record.text) | 1;  // 0 is an empty place
  Remembered& place = remembered_[hash / 2 % remembered_.size()];
  if (place.hash != hash) place = {hash, find_clue(record.text)};
  return place.clue;
}

ClueLog::Seen* ClueLog::find(int clue) {
  for (Seen& seen : seen_) {
    if (seen.clue == clue) return &seen;
  }
  return nullptr;
}

// All ranks give the same warnings: what follows "NCCL WARN " tells whether it is another one.
void ClueLog::add_warning(Quote warning) {
  constexpr std::string_view kMark = " NCCL WARN ";
  const auto words = [&](const std::string& text) {
    const size_t mark = text.find(kMark);
    return std::string_view(text).substr(mark == text.npos ? 0 : mark + kMark.size());
  };
  if (warnings_.size() >= kMaxWarnings) return;
  for (const Quote& known : warnings_) {
    if (words(known.text) == words(warning.text)) return;
  }
  warnings_.push_back(std::move(warning));
}

void ClueLog::absorb(ClueLog&& other, uint32_t first_source) {
  const auto moved = [&](Quote& quote) {
    quote.source += first_source;
    return std::move(quote);
  };
  for (Seen& seen : other.seen_) {
    if (Seen* known = find(seen.clue)) {
      known->count += seen.count;
    } else {
      seen_.push_back({seen.clue, seen.count, moved(seen.first)});
    }
  }
  for (Quote& warning : other.warnings_) add_warning(moved(warning));
  if (other.loopback_bootstrap_) add_loopback(moved(*other.loopback_bootstrap_));
}

}  // namespace lockstep::transport
