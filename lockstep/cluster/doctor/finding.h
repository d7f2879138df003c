// What one check of `lockstep cluster doctor` found, for people and scripts.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/check.h"

namespace lockstep::cluster::doctor {

enum class FindingState {
  kGood,
  kFault,
  kFollows,  // looks wrong, and another check's fault is why
  kNothing,  // what it looks at is not there: no cluster, no training yet
  kUnknown,  // was asked for without an answer
};

struct Finding {
  FindingState state = FindingState::kNothing;
  std::string saw;         // the evidence; of kNothing and kUnknown why there is none
  std::string cause, fix;  // of a fault

  // Of the check, given by diagnose().
  int number = 0;
  std::string id;
  CheckArea area = CheckArea::kMachine;
  std::vector<std::string> follows_from;  // ids, of kFollows
};

Finding good(std::string saw);
Finding fault(std::string saw, std::string cause, std::string fix);
Finding nothing_to_see(std::string why);

// "fault    9 efa-on-nodes         ...", with cause and fix below a fault; a last line counts them.
std::string to_text(const std::vector<Finding>& findings);
// Fields: docs/commands/cluster.md.
Json to_json(const std::vector<Finding>& findings);

// Throws for the first fault: TransportError (exit code 5) when one of the network is among them, else
// ConfigError (2). Without a fault CommandError (8) where something is unknown. Returns else.
void require_healthy(const std::vector<Finding>& findings);

}  // namespace lockstep::cluster::doctor
