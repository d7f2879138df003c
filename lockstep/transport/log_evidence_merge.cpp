// Evidence of several logs brought together.
#include <algorithm>
#include <utility>

#include "lockstep/transport/log_evidence.h"

namespace lockstep::transport {
namespace {

using Id = NameTable::Id;

// Names have other numbers in other tables.
class Renaming {
 public:
  Renaming(const NameTable& from, NameTable& to) : from_(from), to_(to) {}
  void operator()(Id& id) const { id = to_.id(from_.name(id)); }
  Id of(Id id) const { return to_.id(from_.name(id)); }

 private:
  const NameTable& from_;
  NameTable& to_;
};

void rename(Selection& selection, const Renaming& renamed) {
  renamed(selection.net);
  renamed(selection.provider);
}

void rename(ProcessLog& process, const Renaming& renamed) {
  for (Id* id : {&process.host, &process.node, &process.provider, &process.last_provider, &process.fabric,
                 &process.platform, &process.implied_net, &process.versions[0], &process.versions[1],
                 &process.versions[2]}) {
    renamed(*id);
  }
  for (ProcessLog::Address& address : process.addresses) {
    renamed(address.interface);
    renamed(address.ip);
  }
  for (Member& member : process.members) {
    if (member.selection) rename(*member.selection, renamed);
  }
  for (auto& [thread, selection] : process.pending) rename(selection, renamed);
  for (Selection& selection : process.unplaced) rename(selection, renamed);
  decltype(process.paths) paths;
  paths.reserve(process.paths.size());
  for (const auto& [key, seen] : process.paths) {
    PathKey renamed_key = key;
    renamed(renamed_key.net);
    paths.emplace(renamed_key, seen);
  }
  process.paths = std::move(paths);
  for (ProcessLog::NetQuote& quote : process.quotes) renamed(quote.net);
}

}  // namespace

void LogEvidence::absorb(LogEvidence&& other) {
  const Renaming renamed(other.names_, names_);
  for (ProcessLog& process : other.processes_) {
    if (processes_.size() >= limits_.processes) {
      past_limits_ = true;
      break;
    }
    rename(process, renamed);
    process.source += static_cast<uint32_t>(sources_.size());
    for (ProcessLog::NetQuote& quote : process.quotes)
      quote.quote.source += static_cast<uint32_t>(sources_.size());
    num_members_ += process.members.size();
    num_pending_ += process.pending.size();
    num_quotes_ += process.quotes.size();
    num_connections_ += process.paths.size();
    processes_.push_back(std::move(process));
  }
  if (num_members_ > limits_.members || num_connections_ > limits_.connections) past_limits_ = true;
  for (const auto& [net, times] : other.times_named_) times_named_[renamed.of(net)] += times;
  for (const auto& [net, times] : other.counts_.networks) counts_.networks[renamed.of(net)] += times;
  for (const auto& [provider, times] : other.counts_.providers)
    counts_.providers[renamed.of(provider)] += times;
  counts_.bootstraps += other.counts_.bootstraps;
  counts_.starts += other.counts_.starts;
  counts_.deduplicated = counts_.deduplicated || other.counts_.deduplicated;
  clues_.absorb(std::move(other.clues_), static_cast<uint32_t>(sources_.size()));
  for (const Id version : other.bare_versions_) add_bare_version(renamed.of(version));
  for (const auto& [name, values] : other.environment_) {
    for (const std::string& value : values) add_environment(name, value);
  }
  before_2_18_ = before_2_18_ || other.before_2_18_;
  past_limits_ = past_limits_ || other.past_limits_;
  num_lines_ += other.num_lines_;
  num_records_ += other.num_records_;
  sources_.insert(sources_.end(), other.sources_.begin(), other.sources_.end());
}

}  // namespace lockstep::transport
