// Reads logs of a job, from any arrangement of its ranks, and keeps what a verdict needs.
//
//   LogEvidence evidence;
//   evidence.begin_source("rank-0.log");
//   evidence.add(bytes);   // as often as there are bytes
//   evidence.end_source();
//   JobVerdict verdict = judge(evidence);   // verdict.h
//
// Memory grows with the number of different processes, communicators and connections, not with
// the length of the log, and is bounded (Limits): past a limit evidence is dropped and the
// verdict is unknown. Any bytes are safe. Not safe for use by several threads at once.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lockstep/transport/clue_log.h"
#include "lockstep/transport/line_splitter.h"
#include "lockstep/transport/log_record.h"
#include "lockstep/transport/net_line.h"
#include "lockstep/transport/process_log.h"

namespace lockstep::transport {

class LogEvidence {
 public:
  struct Limits {
    size_t processes = 1 << 16;
    size_t members = 1 << 18;               // processes times communicators
    size_t members_of_a_process = 1 << 12;  // it looks through these
    size_t connections = 1 << 21;           // different path lines, about 100 bytes each
  };

  LogEvidence() = default;
  explicit LogEvidence(const Limits& limits) : limits_(limits) {}

  // What follows comes from the file of this name. Processes of different files are different
  // until judge() finds that they are the same.
  void begin_source(std::string name);
  void add(std::string_view bytes);
  // A last line that has no newline is dropped: it may be cut.
  void end_source();

  // Takes over what `other` holds, as sources after its own. Both must be at the end of a source.
  void absorb(LogEvidence&& other);

  // How often something stands in the logs, with the lines that Ray left out for being alike.
  struct Counts {
    std::map<NameTable::Id, uint64_t> networks, providers;
    uint64_t bootstraps = 0;  // one a process
    uint64_t starts = 0;      // one a rank and communicator
    bool deduplicated = false;
  };

  const std::vector<std::string>& sources() const { return sources_; }
  uint64_t num_lines() const { return num_lines_; }      // of all sources
  uint64_t num_records() const { return num_records_; }  // those of NCCL
  const NameTable& names() const { return names_; }
  const std::vector<ProcessLog>& processes() const { return processes_; }
  const Counts& counts() const { return counts_; }
  const ClueLog& clues() const { return clues_; }
  // NCCL versions that no process is named with.
  const std::vector<NameTable::Id>& bare_versions() const { return bare_versions_; }
  // Whether `net` is a network: one that is known, or that more than one line names. A name on one
  // line only is taken for a piece of a longer one.
  bool is_network(NameTable::Id net) const;
  // NCCL's variables that were set, each with its different values.
  const std::map<std::string, std::set<std::string>>& environment() const { return environment_; }
  // P2P and SHM switched off by the environment: ranks of one host then connect over the network.
  bool local_paths_disabled() const;
  bool before_2_18() const { return before_2_18_; }
  bool past_limits() const { return past_limits_; }

 private:
  struct ProcessKey {
    uint32_t source;
    uint32_t pid;
    NameTable::Id host, node;
    bool operator==(const ProcessKey&) const = default;
  };
  struct ProcessKeyHash {
    size_t operator()(const ProcessKey& key) const {
      return ((uint64_t{key.source} << 32 | key.pid) * 0x9E3779B97F4A7C15u) ^
             (uint64_t{key.host} << 16 | key.node) * 0xD6E8FEB86659FD93u;
    }
  };

  void add_line(std::string_view line);
  ProcessLog* process_of(const LogRecord& record);
  void add_record(const LogRecord& record, std::string_view line);
  void add_network(ProcessLog& process, const LogRecord& record, std::string_view net, std::string_view line);
  void add_path(ProcessLog& process, const PathLine& path, std::string_view line);
  void add_comm(ProcessLog& process, const CommLine& comm, uint32_t tid);
  bool add_ofi(ProcessLog& process, const LogRecord& record);
  void add_address(ProcessLog& process, const LogRecord& record, std::string_view line);
  void add_environment(std::string_view name, std::string_view value);
  void add_version(ProcessLog* process, const VersionLine& version);
  void add_bare_version(NameTable::Id version);
  void quote(ProcessLog& process, NameTable::Id net, bool is_path, std::string_view line);
  Quote quote_of(std::string_view line) const;

  Limits limits_;
  std::vector<std::string> sources_;
  LineSplitter splitter_;
  std::string scratch_;
  uint64_t source_line_ = 0;
  uint64_t num_lines_ = 0, num_records_ = 0;
  NameTable names_;
  std::vector<ProcessLog> processes_;
  std::unordered_map<ProcessKey, uint32_t, ProcessKeyHash> process_index_;
  std::array<uint32_t, 64> recent_{};  // indices into processes_, by pid
  size_t num_members_ = 0, num_pending_ = 0, num_connections_ = 0, num_quotes_ = 0;
  std::unordered_map<NameTable::Id, uint64_t> times_named_;
  Counts counts_;
  ClueLog clues_;
  std::vector<NameTable::Id> bare_versions_;
  std::map<std::string, std::set<std::string>> environment_;
  bool before_2_18_ = false, past_limits_ = false;
};

}  // namespace lockstep::transport
