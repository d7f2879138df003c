// One record of NCCL's log, cut out of a line that may carry anything around it.
//
// NCCL prints (src/debug.cc)
//   HOST:PID:TID [DEV] NCCL INFO text
//   HOST:PID:TID [DEV] FILE:LINE NCCL WARN text      since 2.26 with [date time] before HOST
//   NCCL version 2.21.5+cuda12.4                      with no prefix at levels below INFO
// Whatever collects the output adds to it: Ray, kubectl, mpirun, torchrun and others a prefix of
// their own, terminals colours, container runtimes JSON. So the record is searched for anywhere
// in the line instead of being matched from its start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::transport {

struct LogRecord {
  enum class Kind {
    kInfo,
    kWarning,
    kVersion,    // "NCCL version ..." alone; no process is named
    kLibfabric,  // libfabric's own "libfabric:PID:TIME::..."; no process is named
  };
  Kind kind = Kind::kInfo;
  std::string_view host;  // as NCCL prints it, cut at the first dot; empty where none is named
  uint32_t pid = 0;
  uint32_t tid = 0;
  // DEV is left out: it is the current device of the calling thread and no rank.
  std::string_view node;  // Ray's ip= or kubectl's pod: tells hosts of one name apart; may be empty
  std::string_view text;
  uint32_t repeats = 1;  // Ray's "[repeated 15x across cluster]" stands for so many lines
};

// The record in `line`, or none. Of two records glued together by writers that share a pipe the
// last one counts: the first lost its end. `scratch` holds the text where colours had to be taken
// out; the record's views point into `line` or `scratch`. Any bytes are safe.
std::optional<LogRecord> parse_log_record(std::string_view line, std::string& scratch);

}  // namespace lockstep::transport
