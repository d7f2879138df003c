#include "lockstep/transport/log_evidence.h"

#include <algorithm>

#include "lockstep/base/check.h"
#include "lockstep/transport/host_address.h"
#include "lockstep/transport/net_name.h"
#include "lockstep/transport/text_scanner.h"

namespace lockstep::transport {
namespace {

constexpr size_t kMaxQuoteBytes = 512;
constexpr size_t kMaxAddresses = 4, kMaxUnplaced = 4;

uint64_t label_of(std::string_view label) {
  uint64_t value = 0;
  TextScanner scanner(label);
  return scanner.number(value, 16) && scanner.at_end() ? value : kNoLabel;
}

template <typename T>
void add_once(std::vector<T>& list, const T& value, size_t limit) {
  if (list.size() < limit && std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// "NET/OFI Running on p4d.24xlarge platform, ...".
std::string_view platform_of(std::string_view text) {
  TextScanner scanner(text);
  std::string_view platform;
  if (!scanner.take("NET/OFI Running on ") || !scanner.until(' ', platform) || !scanner.take("platform"))
    return {};
  return platform.size() <= 64 ? platform : std::string_view();
}

// "MNNVL busId 0x1b000 fabric UUID 5f1c.8c44 cliqueId ..."; a UUID of zeros is no fabric.
bool names_fabric(std::string_view text) {
  const size_t at = text.find("fabric UUID ");
  TextScanner scanner(text.substr(std::min(at, text.size())));
  uint64_t high = 0, low = 0;
  return scanner.take("fabric UUID ") && scanner.number(high, 16) && scanner.take('.') &&
         scanner.number(low, 16) && (high | low) != 0;
}

}  // namespace

void LogEvidence::begin_source(std::string name) {
  sources_.push_back(std::move(name));
  splitter_ = LineSplitter();
  source_line_ = 0;
}

void LogEvidence::add(std::string_view bytes) {
  LOCKSTEP_CHECK(!sources_.empty()) << "begin_source comes first";
  splitter_.feed(bytes, [this](std::string_view line) { add_line(line); });
}

void LogEvidence::end_source() {
  if (splitter_.cut()) ++num_lines_;
  splitter_ = LineSplitter();
}

bool LogEvidence::is_network(NameTable::Id net) const {
  if (net == NameTable::kNone) return false;
  const auto found = times_named_.find(net);
  return is_known_net(names_.name(net)) || (found != times_named_.end() && found->second > 1);
}

void LogEvidence::add_line(std::string_view line) {
  ++num_lines_;
  ++source_line_;
  if (const auto record = parse_log_record(line, scratch_)) {
    ++num_records_;
    add_record(*record, line);
  }
}

ProcessLog* LogEvidence::process_of(const LogRecord& record) {
  // Mostly it is a process that just had a line.
  uint32_t& recent = recent_[record.pid % recent_.size()];
  if (recent < processes_.size()) {
    ProcessLog& process = processes_[recent];
    if (process.pid == record.pid && process.source + 1 == sources_.size() &&
        names_.name(process.host) == record.host && names_.name(process.node) == record.node) {
      return &process;
    }
  }
  const ProcessKey key{static_cast<uint32_t>(sources_.size() - 1), record.pid, names_.id(record.host),
                       names_.id(record.node)};
  const auto found = process_index_.find(key);
  if (found != process_index_.end()) {
    recent = found->second;
    return &processes_[recent];
  }
  if (processes_.size() >= limits_.processes || key.host == NameTable::kNone) {
    past_limits_ = true;
    return nullptr;
  }
  recent = static_cast<uint32_t>(processes_.size());
  process_index_.emplace(key, recent);
  ProcessLog& process = processes_.emplace_back();
  process.host = key.host;
  process.node = key.node;
  process.source = key.source;
  process.pid = key.pid;
  return &process;
}

void LogEvidence::add_record(const LogRecord& record, std::string_view line) {
  if (record.repeats > 1) counts_.deduplicated = true;
  ProcessLog* process = nullptr;
  if (!record.host.empty()) {
    process = process_of(record);
    if (process == nullptr) return;
    ++process->num_lines;
    if (record.kind == LogRecord::Kind::kInfo) {
      // By the first letter: these are nearly all lines of a large log.
      const char first = record.text.empty() ? '\0' : record.text.front();
      if (first == 'C' || first == 'R') {
        if (const auto path = parse_path_line(record.text)) return add_path(*process, *path, line);
      } else if (first == 'n' || first == 'c' || first == '[') {
        if (const auto comm = parse_comm_line(record.text)) {
          if (comm->event == CommLine::Event::kStart) counts_.starts += record.repeats;
          return add_comm(*process, *comm, record.tid);
        }
      } else if (first == 'U' || first == 'A') {
        if (const auto net = parse_network(record.text)) return add_network(*process, record, *net, line);
      } else if (first == 'M') {
        if (record.text.starts_with("MNNVL "))
          process->has_fabric = process->has_fabric || names_fabric(record.text);
      }
    }
    if (record.text.starts_with("NET/OFI ") && add_ofi(*process, record)) return;
    if (const uint8_t wording = plugin_wording(record.text); wording != 0) process->plugin_wording = wording;
    add_address(*process, record, line);
  }
  if (const auto version = parse_version(record.text)) return add_version(process, *version);
  if (const auto set = parse_environment(record.text)) add_environment(set->name, set->value);
  clues_.add(record, [&] { return quote_of(line); });
}

void LogEvidence::add_network(ProcessLog& process, const LogRecord& record, std::string_view name,
                              std::string_view line) {
  const NameTable::Id net = names_.id(name);
  times_named_[net] += record.repeats;
  const bool is_final = record.text.starts_with("Using ");
  if (is_final) counts_.networks[net] += record.repeats;
  Selection selection{net, process.provider, process.ib_devices.all()};
  // "Assigned NET plugin" comes before "Using network" and names the same: it counts where the
  // other one was lost.
  const auto found = process.pending.find(record.tid);
  if (found != process.pending.end() && found->second.net != net)
    add_once(process.unplaced, found->second, kMaxUnplaced);
  if (found == process.pending.end() && ++num_pending_ > limits_.members) past_limits_ = true;
  if (!past_limits_) process.pending[record.tid] = selection;
  if (is_final) quote(process, net, false, line);
}

void LogEvidence::add_path(ProcessLog& process, const PathLine& path, std::string_view line) {
  before_2_18_ = before_2_18_ || path.before_2_18;
  PathKey key;
  key.own_rank = path.own_rank;
  key.peer_rank = path.peer_rank;
  key.own_label = label_of(path.own_label);
  key.peer_label = label_of(path.peer_label);
  key.epoch = process.epoch;
  key.net = names_.id(path.net);
  key.medium = path.medium;
  key.is_sender = path.is_sender;
  auto found = process.paths.find(key);
  if (found == process.paths.end()) {
    if (num_connections_ >= limits_.connections) {
      past_limits_ = true;
      return;
    }
    ++num_connections_;
    found = process.paths.emplace(key, PathSeen{}).first;
    if (key.net != NameTable::kNone) quote(process, key.net, true, line);
  }
  PathSeen& seen = found->second;
  (path.gpu_direct ? seen.with_gpu_direct : seen.without_gpu_direct) = true;
  seen.devices |= uint64_t{1} << std::min<uint32_t>(path.net_device, 63);
  if (key.net != NameTable::kNone) ++times_named_[key.net];
}

void LogEvidence::add_comm(ProcessLog& process, const CommLine& comm, uint32_t tid) {
  Member* member = process.find(comm);
  if (member == nullptr) {
    if (num_members_ >= limits_.members || process.members.size() >= limits_.members_of_a_process) {
      past_limits_ = true;
      return;
    }
    ++num_members_;
    member = &process.begin(comm);
  }
  num_pending_ -= process.add(comm, *member, tid);
}

bool LogEvidence::add_ofi(ProcessLog& process, const LogRecord& record) {
  if (const auto provider = parse_provider(record.text)) {
    const std::string& plugin = names_.name(process.versions[static_cast<size_t>(Library::kPlugin)]);
    if (!provider->is_whole && counts_nics(plugin)) return true;  // cut
    process.provider = process.last_provider = names_.id(provider->provider);
    process.fabric = names_.id(provider->fabric);
    process.num_nics = provider->num_nics;
    process.implied_net = names_.id("AWS Libfabric");
    counts_.providers[process.provider] += record.repeats;
    return true;
  }
  if (const std::string_view platform = platform_of(record.text); !platform.empty()) {
    process.platform = names_.id(platform);
    return true;
  }
  process.on_aws = process.on_aws || record.text == "NET/OFI Configuring AWS-specific options";
  if (is_ofi_failure(record.text)) process.provider = process.implied_net = NameTable::kNone;
  return false;
}

void LogEvidence::add_address(ProcessLog& process, const LogRecord& record, std::string_view line) {
  const std::string_view text = record.text;
  if (text.starts_with("Bootstrap: Using ") || text.starts_with("Bootstrap : Using ")) {
    counts_.bootstraps += record.repeats;
  } else if (text.starts_with("NET/IB : Using ")) {
    if (auto devices = IbDevices::parse(text); devices && !devices->empty()) {
      process.ib_devices = std::move(*devices);
      process.implied_net = names_.id("IB");
    }
  } else if (text.starts_with("NET/Socket : Using ")) {
    process.implied_net = names_.id("Socket");
  } else {
    return;
  }
  const auto address = parse_host_address(text);
  if (!address) return;
  if (is_loopback(address->ip)) {
    if (text.starts_with("Bootstrap") && !clues_.loopback_bootstrap()) clues_.add_loopback(quote_of(line));
    return;
  }
  const ProcessLog::Address known{names_.id(address->interface), names_.id(address->ip)};
  // The bootstrap's is the one that ranks exchange; others, which may be of another interface, only
  // stand in for it. Two bootstraps are two processes of one name.
  if (!process.addresses.empty() &&
      (!text.starts_with("Bootstrap") || process.addresses.front().interface != known.interface))
    return;
  add_once(process.addresses, known, kMaxAddresses);
}

void LogEvidence::add_environment(std::string_view name, std::string_view value) {
  constexpr size_t kMaxVariables = 64, kMaxValues = 4;
  const std::string key(name);
  if (environment_.size() >= kMaxVariables && !environment_.contains(key)) return;
  std::set<std::string>& values = environment_[key];
  if (values.size() < kMaxValues) values.emplace(value);
}

bool LogEvidence::local_paths_disabled() const {
  return std::any_of(environment_.begin(), environment_.end(), [](const auto& variable) {
    const bool is_one = variable.first == "NCCL_P2P_DISABLE" || variable.first == "NCCL_SHM_DISABLE";
    return is_one && variable.second.contains("1");
  });
}

void LogEvidence::add_version(ProcessLog* process, const VersionLine& version) {
  const NameTable::Id id = names_.id(version.version);
  if (process != nullptr) {
    process->versions[static_cast<size_t>(version.library)] = id;
  } else {
    add_bare_version(id);
  }
}

void LogEvidence::add_bare_version(NameTable::Id version) {
  constexpr size_t kMaxVersions = 16;
  add_once(bare_versions_, version, kMaxVersions);
}

Quote LogEvidence::quote_of(std::string_view line) const {
  std::string scratch;
  // The line as people read it: without colours, and without what comes before it on a very long line.
  const auto record = parse_log_record(line, scratch);
  std::string_view text = scratch.empty() ? line : std::string_view(scratch);
  if (text.size() > kMaxQuoteBytes && record) text = record->text;
  return {static_cast<uint32_t>(sources_.size() - 1), source_line_,
          std::string(text.substr(0, kMaxQuoteBytes))};
}

void LogEvidence::quote(ProcessLog& process, NameTable::Id net, bool is_path, std::string_view line) {
  // Of every process a few, of all processes enough: a proof needs one line.
  constexpr size_t kMaxQuotesOfProcess = 8, kMaxQuotes = 1 << 14;
  for (const ProcessLog::NetQuote& known : process.quotes) {
    if (known.net == net && known.is_path == is_path) return;
  }
  if (process.quotes.size() >= kMaxQuotesOfProcess || num_quotes_ >= kMaxQuotes) return;
  ++num_quotes_;
  process.quotes.push_back({net, is_path, quote_of(line)});
}

}  // namespace lockstep::transport
