// NCCL's debug settings, and how a program captures the log without taking away what its user asked to see.
//
// NCCL reads NCCL_DEBUG (level), NCCL_DEBUG_SUBSYS (what it talks about) and NCCL_DEBUG_FILE (where; else
// standard output) once, at the first call to it. Source: src/debug.cc of NCCL 2.18 to 2.30.
#pragma once

#include <string>
#include <string_view>

#include "lockstep/base/nccl_setting.h"

namespace lockstep::transport {

struct NcclDebug {
  std::string level;       // "INFO", ...; empty: not set, NCCL is silent
  std::string subsystems;  // "INIT,NET", "^COLL", "ALL"; empty: NCCL's default
  std::string file;        // with %h and %p as given; empty: standard output
};

// What the user set, by nccl_setting.
NcclDebug nccl_debug_of(const ReadText& variable, const ReadText& file);

// Settings with which NCCL writes to `file` all that a verdict needs, and all that `user` asked for.
NcclDebug with_evidence(const NcclDebug& user, const std::string& file);

// `text`, lines of a log taken with with_evidence(user, ...), without those that the user's level hides.
std::string as_asked(std::string_view text, const NcclDebug& user);

// NCCL_DEBUG_FILE as NCCL reads it: %h is `host`, %p is `pid`, %% is %.
std::string expand_file_name(std::string_view file, const std::string& host, int pid);

}  // namespace lockstep::transport
