// All checks of `lockstep cluster doctor` together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lockstep/cluster/doctor/checks.h"

namespace lockstep::cluster::doctor {

enum class LooksAt { kAccount, kCluster };  // the latter wants one that is active

struct CheckEntry {
  int number;  // from 1 on
  std::string_view id;
  LooksAt place;
  CheckArea area;
  std::string_view fault_when;            // for docs/commands/cluster.md
  std::vector<std::string_view> follows;  // checks whose fault explains this one's
  LookAt look;
};

const std::vector<CheckEntry>& all_checks();

// One finding for each check, in order. A fault that another explains is not called one.
std::vector<Finding> diagnose(const Observation& seen);

}  // namespace lockstep::cluster::doctor
