#include "lockstep/cluster/doctor/worker_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "lockstep/cluster/eks/answer.h"

namespace lockstep::cluster::doctor {
namespace {

using eks::part_of;
using eks::text_of;

const Json& check_named(const Json& report, const std::string& name) {
  static const Json nothing;
  for (const Json& check : part_of(report, "checks")) {
    if (text_of(check, "name") == name) return check;
  }
  return nothing;
}

}  // namespace

std::optional<SeenLine> find_line(const Observation& seen, const std::string& expression) {
  static const std::regex failure("fail|Fail|error|No eligible|not find");
  const std::regex wanted(expression);
  for (const PodView& worker : seen.workers) {
    if (!worker.network_log.answer) continue;
    std::string before;
    for (const std::string& line : *worker.network_log.answer) {
      if (std::regex_search(line, wanted)) return SeenLine{worker.pod, line, before};
      if (std::regex_search(line, failure)) before = line;
    }
  }
  return std::nullopt;
}

std::string to_text(const SeenLine& line) { return fmt::format("{}: {}", line.pod, line.line); }

Finding from_reports(const Observation& seen, const std::vector<std::string>& names,
                     const std::vector<NoteIsFault>& notes) {
  if (seen.workers.empty()) return nothing_to_see("no worker pod runs");
  std::string saw;
  for (const PodView& worker : seen.workers) {
    if (!worker.report.answer) continue;
    for (const std::string& name : names) {
      const Json& check = check_named(*worker.report.answer, name);
      const std::string state = text_of(check, "state");
      const std::string evidence = fmt::format("{}: {}: {}", worker.pod, name, text_of(check, "saw"));
      if (state == "fault") return fault(evidence, text_of(check, "why"), text_of(check, "fix"));
      for (const NoteIsFault& note : notes) {
        if (state == "note" && name == note.check) return fault(evidence, note.cause, note.fix);
      }
      if (saw.empty()) saw = fmt::format("{}: {}", worker.pod, text_of(check, "saw"));
    }
  }
  for (const PodView& worker : seen.workers) worker.report.need();
  const size_t others = seen.workers.size() - 1;
  return good(others == 0 ? saw : fmt::format("{} (and {} more pod{})", saw, others, others == 1 ? "" : "s"));
}

}  // namespace lockstep::cluster::doctor
