#include "lockstep/base/split.h"

#include <sstream>

namespace lockstep {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string trimmed(const std::string& text) {
  constexpr const char* kBlanks = " \t\n\r\f\v";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::string last_line(const std::string& text) {
  const std::string all = trimmed(text);
  return trimmed(all.substr(all.rfind('\n') + 1));
}

}  // namespace lockstep
