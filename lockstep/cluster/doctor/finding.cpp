#include "lockstep/cluster/doctor/finding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep::cluster::doctor {
namespace {

const char* word(FindingState state) {
  switch (state) {
    case FindingState::kGood:
      return "ok";
    case FindingState::kFault:
      return "fault";
    case FindingState::kFollows:
      return "follows";
    case FindingState::kNothing:
      return "nothing";
    case FindingState::kUnknown:
      break;
  }
  return "unknown";
}

int64_t count(const std::vector<Finding>& findings, FindingState state) {
  return std::count_if(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.state == state; });
}

const Finding* first(const std::vector<Finding>& findings, FindingState state) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.state == state; });
  return found == findings.end() ? nullptr : &*found;
}

}  // namespace

Finding good(std::string saw) { return {.state = FindingState::kGood, .saw = std::move(saw)}; }

Finding fault(std::string saw, std::string cause, std::string fix) {
  return {
      .state = FindingState::kFault, .saw = std::move(saw), .cause = std::move(cause), .fix = std::move(fix)};
}

Finding nothing_to_see(std::string why) { return {.state = FindingState::kNothing, .saw = std::move(why)}; }

std::string to_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text +=
        fmt::format("{:<8} {:>2} {:<20} {}\n", word(finding.state), finding.number, finding.id, finding.saw);
    if (finding.state == FindingState::kFault)
      text += fmt::format("{:33}cause: {}\n{:33}fix: {}\n", "", finding.cause, "", finding.fix);
    if (finding.state == FindingState::kFollows)
      text += fmt::format("{:33}cause: {}\n", "", fmt::join(finding.follows_from, ", "));
  }
  const int64_t faults = count(findings, FindingState::kFault),
                follows = count(findings, FindingState::kFollows);
  return text +
         fmt::format(
             "{} checks: {} ok, {} fault{}, {} that follow{}, {} unknown, {} with nothing to look at\n",
             findings.size(), count(findings, FindingState::kGood), faults, faults == 1 ? "" : "s", follows,
             follows == 1 ? "s" : "", count(findings, FindingState::kUnknown),
             count(findings, FindingState::kNothing));
}

Json to_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"number", finding.number},
                    {"id", finding.id},
                    {"area", word(finding.area)},
                    {"state", word(finding.state)},
                    {"saw", finding.saw},
                    {"cause", finding.cause},
                    {"fix", finding.fix},
                    {"follows_from", finding.follows_from}});
  }
  return {{"version", 1},
          {"faults", count(findings, FindingState::kFault)},
          {"unknown", count(findings, FindingState::kUnknown)},
          {"checks", list}};
}

void require_healthy(const std::vector<Finding>& findings) {
  std::vector<Check> faults;
  for (const Finding& finding : findings) {
    if (finding.state == FindingState::kFault)
      faults.push_back({.name = finding.id,
                        .area = finding.area,
                        .state = CheckState::kFault,
                        .saw = finding.saw,
                        .why = finding.cause,
                        .fix = finding.fix});
  }
  require_no_fault(faults, "cluster doctor");
  if (const Finding* unknown = first(findings, FindingState::kUnknown))
    throw CommandError(fmt::format("cluster doctor: {} of {} checks could not be made: {}: {}",
                                   count(findings, FindingState::kUnknown), findings.size(), unknown->id,
                                   unknown->saw));
}

}  // namespace lockstep::cluster::doctor
