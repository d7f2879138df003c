// Reads a line from left to right: the small grammar that log lines need, without the cost of
// regular expressions.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace lockstep::transport {

// Each method passes what it names and returns true, or returns false and passes nothing.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) {}

  bool take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  // One blank or more.
  bool blanks() {
    if (!take(' ')) return false;
    while (take(' ')) {
    }
    return true;
  }
  // Digits that fit; a minus only where Number is signed.
  template <typename Number>
  bool number(Number& value, int base = 10) {
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data(), end, value, base);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(stop - text_.data()));
    return true;
  }
  // A pointer or hash: "0x55aa", or "55aa" where printf's %p leaves the 0x out.
  bool hex(uint64_t& value) {
    const TextScanner before = *this;
    take("0x");
    if (number(value, 16)) return true;
    *this = before;
    return false;
  }
  // Everything before the first `stop`, which must be there and is passed too.
  bool until(char stop, std::string_view& value) {
    const size_t end = text_.find(stop);
    if (end == text_.npos) return false;
    value = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return true;
  }
  // At least one letter, digit or underscore.
  bool identifier(std::string_view& value) {
    size_t size = 0;
    while (size < text_.size() && is_word(text_[size])) ++size;
    if (size == 0) return false;
    value = text_.substr(0, size);
    text_.remove_prefix(size);
    return true;
  }

  std::string_view rest() const { return text_; }
  bool at_end() const { return text_.empty(); }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

 private:
  std::string_view text_;
};

// The same from the right: each passes what `text` ends with.
inline bool take_at_end(std::string_view& text, std::string_view word) {
  if (!text.ends_with(word)) return false;
  text.remove_suffix(word.size());
  return true;
}

inline bool take_number_at_end(std::string_view& text, uint32_t& value) {
  size_t begin = text.size();
  while (begin > 0 && TextScanner::is_digit(text[begin - 1])) --begin;
  TextScanner digits(text.substr(begin));
  if (!digits.number(value) || !digits.at_end()) return false;
  text = text.substr(0, begin);
  return true;
}

}  // namespace lockstep::transport
