#include "lockstep/base/yaml_document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/utf8.h"

namespace lockstep {
namespace {

class Discard : public YAML::EventHandler {
  using Mark = YAML::Mark;
  using Anchor = YAML::anchor_t;
  using Style = YAML::EmitterStyle::value;

 public:
  void OnDocumentStart(const Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const Mark&, Anchor) override {}
  void OnAlias(const Mark&, Anchor) override {}
  void OnScalar(const Mark&, const std::string&, Anchor, const std::string&) override {}
  void OnSequenceStart(const Mark&, const std::string&, Anchor, Style) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const Mark&, const std::string&, Anchor, Style) override {}
  void OnMapEnd() override {}
};

// YAML::Load() ignores what follows the first document, and YAML::LoadAll() never returns when
// that begins with a token that no document can begin with ("a: 1 ]"): so ask for one more, once.
bool has_more_than_one_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Discard discard;
  return parser.HandleNextDocument(discard) && parser.HandleNextDocument(discard);
}

void check_utf8(const std::string& text, const std::string& origin) {
  const auto at = find_invalid_utf8(text);
  if (!at) return;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(*at), '\n');
  throw ConfigError(fmt::format("{}:{}: not text in UTF-8 (byte {:#04x})", origin, line,
                                static_cast<unsigned char>(text[*at])));
}

}  // namespace

YAML::Node parse_yaml(const std::string& text, const std::string& origin) {
  check_utf8(text, origin);
  try {
    if (has_more_than_one_document(text)) {
      throw ConfigError(
          fmt::format("{}: goes on after the end of its YAML document: look for --- or a stray "
                      "bracket",
                      origin));
    }
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw ConfigError(fmt::format("{}:{}: not valid YAML: {}", origin, error.mark.line + 1, error.msg));
  }
}

}  // namespace lockstep
