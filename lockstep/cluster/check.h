// One thing that was looked at before training or before a cluster is made, in words for people: what it saw,
// why it matters, the fix.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::cluster {

enum class CheckState {
  kGood,
  kNote,   // nothing is wrong, but it decides how training runs: no GPU here, no fast network
  kFault,  // training would fail, or run over another network than the machine has
};

enum class CheckArea { kMachine, kNetwork };
const char* word(CheckArea area);  // "machine", "network"

struct Check {
  std::string name;  // "driver", "plugin"
  CheckArea area = CheckArea::kMachine;
  CheckState state = CheckState::kGood;
  std::string saw;
  std::string why;
  std::string fix;  // empty where nothing is to be done
};

// "ok     driver           ...", with why and fix below for what is not good; without the last newline.
std::string checks_text(const std::vector<Check>& checks);
// Fields: docs/commands/doctor.md.
Json checks_json(const std::vector<Check>& checks);

// Throws for the first fault: TransportError (exit code 5) when one of the network is among them, else
// ConfigError (2). Returns when there is none. `who` looked: the message's first word.
void require_no_fault(const std::vector<Check>& checks, const std::string& who);

}  // namespace lockstep::cluster
