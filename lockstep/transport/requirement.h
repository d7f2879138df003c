// What is asked of a network, and why a verdict is not that.
#pragma once

#include <map>
#include <string>

#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

enum class Requirement { kAny, kEfa, kIb, kRoce };

const std::map<std::string, Requirement>& requirements();  // by their words: "any", "efa", "ib", "roce"
std::string_view word(Requirement requirement);

// Whether a verdict is what was asked for. Any known transport is kAny; unknown never passes, and
// none passes only as kAny: that a job ran on one node cannot be seen from its logs alone.
bool passes(Transport transport, Requirement requirement);

struct Rule {
  Requirement requirement = Requirement::kAny;
  Level least = Level::kSelected;  // of the evidence
  bool one_node = false;           // whoever started the job says so: then none passes at every level
};

// Why `verdict` is refused, in a clause with the first likely cause; empty: it is as asked.
std::string refusal(const JobVerdict& verdict, const Rule& rule);

}  // namespace lockstep::transport
