// What the checks read of what was seen inside the worker pods.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/cluster/doctor/finding.h"
#include "lockstep/cluster/doctor/observation.h"

namespace lockstep::cluster::doctor {

struct SeenLine {
  std::string pod, line;
  std::string before;  // the last line before it that names a failure; may be empty
};

// The first line of the workers' logs that an expression takes. Logs that could not be read are passed over.
std::optional<SeenLine> find_line(const Observation& seen, const std::string& expression);
std::string to_text(const SeenLine& line);

// `lockstep doctor node` calls it a note where a machine has no GPU or EFA; in a worker that was to have some
// it is a fault.
struct NoteIsFault {
  std::string check, cause, fix;
};

// Of the named checks of `lockstep doctor node` in every worker: the first fault, else what they saw. Nothing
// to see where no worker runs. Throws Unanswered where a worker told nothing and no other has a fault.
Finding from_reports(const Observation& seen, const std::vector<std::string>& names,
                     const std::vector<NoteIsFault>& notes = {});

}  // namespace lockstep::cluster::doctor
