#include "lockstep/transport/requirement.h"

#include <fmt/format.h>

namespace lockstep::transport {

const std::map<std::string, Requirement>& requirements() {
  static const std::map<std::string, Requirement> words = {{"any", Requirement::kAny},
                                                           {"efa", Requirement::kEfa},
                                                           {"ib", Requirement::kIb},
                                                           {"roce", Requirement::kRoce}};
  return words;
}

std::string_view word(Requirement requirement) {
  for (const auto& [word, known] : requirements()) {
    if (known == requirement) return word;
  }
  return "";
}

bool passes(Transport transport, Requirement requirement) {
  switch (requirement) {
    case Requirement::kAny:
      return transport != Transport::kUnknown;
    case Requirement::kEfa:
      return transport == Transport::kEfa;
    case Requirement::kIb:
      return transport == Transport::kIb;
    case Requirement::kRoce:
      return transport == Transport::kRoce;
  }
  return false;
}

std::string refusal(const JobVerdict& verdict, const Rule& rule) {
  if (verdict.transport == Transport::kNone && rule.one_node) return "";
  if (!passes(verdict.transport, rule.requirement)) {
    const std::string wanted =
        rule.requirement == Requirement::kAny ? "" : fmt::format(", required is {}", word(rule.requirement));
    const std::string cause =
        verdict.findings.empty() ? "" : fmt::format("; {}", verdict.findings.front().cause);
    return fmt::format("the transport is {}{}: {}{}", word(verdict.transport), wanted, verdict.reason, cause);
  }
  if (verdict.level < rule.least) {
    return fmt::format("{} by evidence that is only {}, not {}: {}", word(verdict.transport),
                       word(verdict.level), word(rule.least), verdict.reason);
  }
  return "";
}

}  // namespace lockstep::transport
