#include "lockstep/cluster/image/auth_challenge.h"

#include <algorithm>
#include <cctype>

namespace lockstep::cluster {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  void skip(const char* characters) {
    at_ = std::min(text_.find_first_not_of(characters, at_), text_.size());
  }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // Up to a delimiter, in lower case; empty when one is here.
  std::string name() {
    std::string word = until(" \t,=\"");
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    return word;
  }
  std::string value() {
    if (!take('"')) return until(" \t,");
    std::string value;
    while (!at_end() && !take('"')) {
      take('\\');
      if (!at_end()) value += text_[at_++];
    }
    return value;
  }

 private:
  std::string until(const char* delimiters) {
    const size_t end = std::min(text_.find_first_of(delimiters, at_), text_.size());
    const std::string word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }

  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

std::string AuthChallenge::parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? "" : found->second;
}

std::vector<AuthChallenge> parse_challenges(const std::string& header) {
  std::vector<AuthChallenge> challenges;
  Reader reader(header);
  for (reader.skip(" \t,"); !reader.at_end(); reader.skip(" \t,")) {
    const std::string name = reader.name();
    if (name.empty()) break;
    reader.skip(" \t");
    if (!reader.take('=')) {
      challenges.push_back({name, {}});
    } else if (challenges.empty()) {
      break;
    } else {
      reader.skip(" \t");
      challenges.back().parameters[name] = reader.value();
    }
  }
  return challenges;
}

}  // namespace lockstep::cluster
