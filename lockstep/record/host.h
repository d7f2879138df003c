// What a machine is, and what in its environment can change a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "lockstep/base/json.h"

namespace lockstep::record {

struct HostFacts {
  std::string hostname;
  std::string kernel;     // "Linux 6.1.0-18-amd64 x86_64"
  std::string cpu_model;  // empty where /proc/cpuinfo does not say
  int num_cpus = 0;       // that this process may run on
  int64_t memory_bytes = 0;

  // Of the machine that it runs on.
  static HostFacts of_this_machine();
  Json to_json() const;
};

// The variables among `environment` ("NAME=value", null-terminated like environ) that are known to
// change how a run goes: NCCL_*, FI_*, OMP_*, MKL_*, LOCKSTEP_* and CUDA_VISIBLE_DEVICES. Never a
// secret: a value is given as "(withheld)" when the variable's name speaks of one (TOKEN, SECRET,
// PASSWORD, CREDENTIAL, KEY) or the value holds a password in an address ("https://user:pass@host").
std::map<std::string, std::string> relevant_environment(const char* const* environment);

}  // namespace lockstep::record
