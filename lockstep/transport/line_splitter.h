// Cuts a stream of bytes into lines, in bounded memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace lockstep::transport {

// Of a line longer than this only the end is kept: a progress bar without newlines can grow to
// megabytes, and the record that follows it on the same line stands at the end.
inline constexpr size_t kMaxLineBytes = 64 << 10;

class LineSplitter {
 public:
  // Calls `line(std::string_view)` for each line that `bytes` end, without its newline. The text
  // lives until `line` returns. What follows the last newline waits for the next call; a line
  // that never ends is never given, since one that was cut may say what the whole one did not.
  template <typename Line>
  void feed(std::string_view bytes, Line&& line) {
    while (!bytes.empty()) {
      const void* newline = std::memchr(bytes.data(), '\n', bytes.size());
      if (newline == nullptr) {
        keep(bytes);
        return;
      }
      const size_t size = static_cast<size_t>(static_cast<const char*>(newline) - bytes.data());
      const std::string_view text = bytes.substr(0, size);
      bytes.remove_prefix(size + 1);
      if (begun_.empty()) {
        line(text.substr(text.size() - std::min(text.size(), kMaxLineBytes)));
      } else {
        keep(text);
        line(std::string_view(begun_));
        begun_.clear();
      }
    }
  }

  // Whether a line was begun and not ended.
  bool cut() const { return !begun_.empty(); }

 private:
  void keep(std::string_view text);

  std::string begun_;
};

}  // namespace lockstep::transport
