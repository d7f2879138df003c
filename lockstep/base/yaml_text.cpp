#include "lockstep/base/yaml_text.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>

namespace lockstep {
namespace {

bool is_plain_list(const Json& value) {
  return value.is_array() &&
         std::none_of(value.begin(), value.end(), [](const Json& item) { return item.is_structured(); });
}

// Dates ("2012-10-17"), base 60 ("1:30") and grouped digits ("1_000") are not text in YAML 1.1, which others
// read.
bool is_number_of_yaml_1_1(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) &&
         text.find_first_not_of("0123456789-:_.+TtZ ") == text.npos && text.find_first_of("-:_") != text.npos;
}

// A string that YAML would read as a number, a truth value or null needs its quotes. (The emitter
// itself knows those that break the syntax.)
bool needs_quotes(const std::string& text) {
  const YAML::Node node(text);
  bool as_bool;
  double as_number;
  return text.empty() || YAML::IsNullString(text) || YAML::convert<bool>::decode(node, as_bool) ||
         YAML::convert<double>::decode(node, as_number) || is_number_of_yaml_1_1(text);
}

void emit(YAML::Emitter& out, const Json& value) {
  if (value.is_object()) {
    out << YAML::BeginMap;
    for (const auto& [key, item] : value.items()) {
      out << YAML::Key << key << YAML::Value;
      emit(out, item);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    out << (is_plain_list(value) ? YAML::Flow : YAML::Block) << YAML::BeginSeq;
    for (const Json& item : value) emit(out, item);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    const auto text = value.get<std::string>();
    if (needs_quotes(text)) out << YAML::DoubleQuoted;
    out << text;
  } else if (value.is_null()) {
    out << YAML::Null;
  } else {
    out << value.dump();  // numbers, true and false are written alike in both
  }
}

}  // namespace

std::string yaml_text(const Json& value) {
  YAML::Emitter out;
  emit(out, value);
  return std::string(out.c_str()) + "\n";
}

}  // namespace lockstep
