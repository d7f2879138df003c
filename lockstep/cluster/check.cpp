#include "lockstep/cluster/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cluster {
namespace {

const char* word(CheckState state) {
  switch (state) {
    case CheckState::kGood:
      return "ok";
    case CheckState::kNote:
      return "note";
    case CheckState::kFault:
      break;
  }
  return "fault";
}

int64_t count(const std::vector<Check>& checks, CheckState state) {
  return std::count_if(checks.begin(), checks.end(),
                       [&](const Check& check) { return check.state == state; });
}

}  // namespace

const char* word(CheckArea area) { return area == CheckArea::kNetwork ? "network" : "machine"; }

std::string checks_text(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    text += fmt::format("{:<6} {:<16} {}\n", word(check.state), check.name, check.saw);
    if (check.state == CheckState::kGood) continue;
    text += fmt::format("{:23} why: {}\n", "", check.why);
    if (!check.fix.empty()) text += fmt::format("{:23} fix: {}\n", "", check.fix);
  }
  const int64_t faults = count(checks, CheckState::kFault), notes = count(checks, CheckState::kNote);
  return text + fmt::format("{} checks: {} fault{}, {} note{}", checks.size(), faults, faults == 1 ? "" : "s",
                            notes, notes == 1 ? "" : "s");
}

Json checks_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back({{"name", check.name},
                    {"area", word(check.area)},
                    {"state", word(check.state)},
                    {"saw", check.saw},
                    {"why", check.why},
                    {"fix", check.fix}});
  }
  return {{"version", 1}, {"faults", count(checks, CheckState::kFault)}, {"checks", list}};
}

void require_no_fault(const std::vector<Check>& checks, const std::string& who) {
  const auto is_fault = [](const Check& check) { return check.state == CheckState::kFault; };
  const auto first = std::find_if(checks.begin(), checks.end(), is_fault);
  if (first == checks.end()) return;
  const int64_t others = count(checks, CheckState::kFault) - 1;
  const std::string message = fmt::format("{}: {}: {}. {}{}", who, first->name, first->saw, first->fix,
                                          others > 0 ? fmt::format(" (and {} more)", others) : "");
  const bool network = std::any_of(checks.begin(), checks.end(), [&](const Check& check) {
    return is_fault(check) && check.area == CheckArea::kNetwork;
  });
  if (network) throw TransportError(message);
  throw ConfigError(message);
}

}  // namespace lockstep::cluster
