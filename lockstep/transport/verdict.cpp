#include "lockstep/transport/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lockstep/transport/advice.h"
#include "lockstep/transport/fold.h"
#include "lockstep/transport/net_name.h"

namespace lockstep::transport {
namespace {

using Id = NameTable::Id;

bool is_pass(Transport transport) {
  return transport == Transport::kEfa || transport == Transport::kIb || transport == Transport::kRoce;
}

std::vector<std::string> sorted(const std::set<std::string>& names) { return {names.begin(), names.end()}; }

class Judge {
 public:
  explicit Judge(const LogEvidence& evidence)
      : evidence_(evidence), hosts_(map_hosts(evidence)), map_(map_communicators(evidence, hosts_)) {}

  JobVerdict judge() {
    verdict_.sources = evidence_.sources();
    verdict_.num_lines = evidence_.num_lines();
    verdict_.num_records = evidence_.num_records();
    verdict_.hosts = hosts_.names;
    std::sort(verdict_.hosts.begin(), verdict_.hosts.end());
    verdict_.warnings = evidence_.clues().warnings();
    describe_libraries();
    fold_communicators();
    agree();
    doubt();
    describe_networks();
    prove();
    verdict_.findings = advise(verdict_, evidence_, hosts_);
    return std::move(verdict_);
  }

 private:
  const std::string& name(Id id) const { return evidence_.names().name(id); }

  // ----- communicators

  // Ray shows one line for many equal ones, with their number. When there are enough for all
  // ranks and all say the same, they stand for the ranks that are not shown.
  void count_merged_lines(JobEvidence& job) const {
    const LogEvidence::Counts& counts = evidence_.counts();
    if (!counts.deduplicated || counts.networks.size() != 1) return;
    uint64_t num_ranks = 0;
    for (const Communicator& communicator : map_.communicators)
      num_ranks = std::max<uint64_t>(num_ranks, communicator.num_ranks);
    const auto& [net, times] = *counts.networks.begin();
    if (times < std::max(num_ranks, counts.starts)) return;
    job.network_of_all = net;
    if (counts.providers.size() == 1) {
      const auto& [provider, selected] = *counts.providers.begin();
      if (selected >= std::max(num_ranks, counts.bootstraps)) job.provider_of_all = provider;
    }
    for (const ProcessLog& process : evidence_.processes()) job.links_of_all |= process.ib_devices.all();
  }

  void fold_communicators() {
    JobEvidence job{evidence_, hosts_};
    count_merged_lines(job);
    for (const Communicator& communicator : map_.communicators) {
      verdict_.num_ranks = std::max(verdict_.num_ranks, communicator.num_ranks);
      verdict_.communicators.push_back(fold(communicator, job));
    }
    if (map_.communicators.empty() && !map_.strays.empty()) fold_strays(job);
    std::set<std::string> used;
    for (const CommunicatorVerdict& communicator : verdict_.communicators) {
      if (communicator.transport != Transport::kUnknown ||
          communicator.ranks_selected == communicator.num_ranks)
        used.insert(communicator.networks.begin(), communicator.networks.end());
    }
    used_ = sorted(used);
  }

  // No communicator is named in the whole log: its path lines alone, as if they were of one.
  void fold_strays(const JobEvidence& job) {
    Communicator unnamed;
    unnamed.name = "unnamed";
    for (const StrayPath& stray : map_.strays) {
      if (stray.key.medium != PathLine::Medium::kNet) continue;
      unnamed.num_ranks = std::max({unnamed.num_ranks, stray.key.own_rank + 1, stray.key.peer_rank + 1});
      auto& entries = unnamed.ranks[stray.key.own_rank];
      const auto is_known = [&](const RankEntry& entry) {
        return hosts_.process[entry.process] == hosts_.process[stray.process];
      };
      if (std::none_of(entries.begin(), entries.end(), is_known))
        entries.push_back({stray.process, nullptr, std::nullopt});
      Connection& connection = unnamed.connections[Communicator::connection_key(
          stray.key.is_sender ? stray.key.own_rank : stray.key.peer_rank,
          stray.key.is_sender ? stray.key.peer_rank : stray.key.own_rank)];
      NetEnd& end = stray.key.is_sender ? connection.send : connection.receive;
      const Transport transport = transport_of_stray(stray);
      if (end.seen && (end.net != stray.key.net || end.transport != transport)) end.disagrees = true;
      end = {true,
             stray.key.net,
             transport,
             end.disagrees,
             end.with_gpu_direct || stray.seen.with_gpu_direct,
             end.without_gpu_direct || stray.seen.without_gpu_direct,
             stray.process};
    }
    if (unnamed.num_ranks > 0) verdict_.communicators.push_back(fold(unnamed, job));
  }

  Transport transport_of_stray(const StrayPath& stray) const {
    const ProcessLog& process = evidence_.processes()[stray.process];
    return transport_of(name(stray.key.net), name(process.provider), process.ib_devices.all());
  }

  // ----- the job

  void agree() {
    std::set<Transport> known;
    bool has_unknown = verdict_.communicators.empty(), has_none = false;
    std::set<GpuDirect> gpu_direct;
    for (const CommunicatorVerdict& communicator : verdict_.communicators) {
      if (communicator.transport == Transport::kUnknown) {
        has_unknown = true;
      } else if (communicator.transport == Transport::kNone) {
        has_none = true;
      } else {
        known.insert(communicator.transport);
      }
      if (!communicator.pairs.empty()) gpu_direct.insert(communicator.gpu_direct);
    }
    if (gpu_direct.size() == 1) verdict_.gpu_direct = *gpu_direct.begin();
    if (known.size() > 1) {
      verdict_.transport = Transport::kMixed;
    } else if (known.size() == 1 && !(has_unknown && is_pass(*known.begin()))) {
      verdict_.transport = *known.begin();
    } else if (known.empty() && has_none && !has_unknown) {
      verdict_.transport = Transport::kNone;
    }
    describe(known);
  }

  // The level and the reason: of the communicator that decides.
  void describe(const std::set<Transport>& known) {
    const CommunicatorVerdict* decisive = nullptr;
    for (const CommunicatorVerdict& communicator : verdict_.communicators) {
      const bool counts = verdict_.transport == Transport::kMixed
                              ? communicator.transport != Transport::kNone
                              : communicator.transport == verdict_.transport;
      if (!counts) continue;
      if (decisive == nullptr || communicator.level < decisive->level) decisive = &communicator;
    }
    if (decisive == nullptr) {
      verdict_.reason = "no line names a communicator";
      return;
    }
    verdict_.level = decisive->level;
    verdict_.reason = decisive->reason;
    if (verdict_.transport == Transport::kMixed && known.size() > 1) {
      std::set<std::string> words;
      for (const Transport transport : known) words.emplace(word(transport));
      verdict_.reason = fmt::format("its communicators differ: {}", fmt::join(words, ", "));
    }
  }

  void refute(std::string reason) {
    verdict_.transport = Transport::kUnknown;
    verdict_.level = Level::kNothing;
    verdict_.reason = std::move(reason);
  }

  // What belongs to no communicator that is known must not contradict a pass.
  void doubt() {
    if (!is_pass(verdict_.transport)) return;
    if (evidence_.past_limits()) return refute("there are more processes or connections than are kept");
    for (const StrayPath& stray : map_.strays) {
      if (stray.key.medium == PathLine::Medium::kNet && is_other(stray.key.net, transport_of_stray(stray)))
        return refute(
            fmt::format("a communicator whose lines are missing is connected over {}", name(stray.key.net)));
    }
    for (const Selection& selection : unplaced_selections()) {
      const Transport transport =
          transport_of(name(selection.net), name(selection.provider), selection.links);
      if (is_other(selection.net, transport))
        return refute(fmt::format("the network {} is named for a communicator whose lines are missing",
                                  name(selection.net)));
    }
  }

  std::vector<Selection> unplaced_selections() const {
    std::vector<Selection> unplaced = map_.unplaced;
    for (size_t i = 0; i < evidence_.processes().size(); ++i) {
      if (hosts_.host_of[i] == HostMap::kFragment) continue;
      const ProcessLog& process = evidence_.processes()[i];
      unplaced.insert(unplaced.end(), process.unplaced.begin(), process.unplaced.end());
      for (const auto& [thread, selection] : process.pending) unplaced.push_back(selection);
    }
    return unplaced;
  }

  bool is_other(Id net, Transport transport) const {
    return evidence_.is_network(net) && transport != verdict_.transport &&
           !std::binary_search(used_.begin(), used_.end(), name(net));
  }

  // ----- descriptions

  void describe_networks() {
    std::set<std::string> providers;
    verdict_.networks = used_;
    for (size_t i = 0; i < evidence_.processes().size(); ++i) {
      const ProcessLog& process = evidence_.processes()[i];
      if (hosts_.host_of[i] != HostMap::kFragment && process.last_provider != NameTable::kNone)
        providers.insert(name(process.last_provider));
    }
    verdict_.providers = sorted(providers);
  }

  void describe_libraries() {
    std::set<std::string> versions[3];
    for (const Id version : evidence_.bare_versions()) versions[0].insert(name(version));
    for (size_t i = 0; i < evidence_.processes().size(); ++i) {
      for (size_t library = 0; library < 3 && hosts_.host_of[i] != HostMap::kFragment; ++library) {
        const Id version = evidence_.processes()[i].versions[library];
        if (version != NameTable::kNone) versions[library].insert(name(version));
      }
    }
    verdict_.nccl_versions = sorted(versions[0]);
    verdict_.plugin_versions = sorted(versions[1]);
    verdict_.libfabric_versions = sorted(versions[2]);
  }

  // A line for each network: one of a connection across hosts, else one that names it.
  void prove() {
    std::map<Id, const Quote*> connected, named;
    for (const Communicator& communicator : map_.communicators) {
      for (const auto& [key, connection] : communicator.connections) {
        for (const NetEnd* end : {&connection.send, &connection.receive}) {
          if (end->seen && crosses(communicator, key)) find_quote(end->process, end->net, true, connected);
        }
      }
    }
    for (uint32_t i = 0; i < evidence_.processes().size(); ++i) {
      if (hosts_.host_of[i] < 0) continue;
      for (const auto& quote : evidence_.processes()[i].quotes) find_quote(i, quote.net, false, named);
    }
    for (const auto& [net, quote] : named) {
      if (std::binary_search(used_.begin(), used_.end(), name(net)))
        verdict_.proof.push_back(connected.contains(net) ? *connected[net] : *quote);
    }
  }

  void find_quote(uint32_t process, Id net, bool is_path, std::map<Id, const Quote*>& best) const {
    for (const auto& quote : evidence_.processes()[process].quotes) {
      if (quote.net != net || quote.is_path != is_path) continue;
      const Quote*& known = best[net];
      const auto earlier = [](const Quote& a, const Quote& b) {
        return std::pair(a.source, a.line) < std::pair(b.source, b.line);
      };
      if (known == nullptr || earlier(quote.quote, *known)) known = &quote.quote;
    }
    if (best[net] == nullptr) best.erase(net);
  }

  bool crosses(const Communicator& communicator, uint64_t key) const {
    const auto host = [&](uint32_t rank) {
      const auto found = communicator.ranks.find(rank);
      return found == communicator.ranks.end() ? -1 : hosts_.host_of[found->second.front().process];
    };
    const int sender = host(static_cast<uint32_t>(key >> 32)), receiver = host(static_cast<uint32_t>(key));
    return sender >= 0 && receiver >= 0 && sender != receiver;
  }

  const LogEvidence& evidence_;
  const HostMap hosts_;
  const CommunicatorMap map_;
  JobVerdict verdict_;
  std::vector<std::string>
      used_;  // networks of communicators that have a verdict, or all of whose ranks named one
};

}  // namespace

JobVerdict judge(const LogEvidence& evidence) { return Judge(evidence).judge(); }

bool passes(Transport transport, Requirement requirement) {
  switch (requirement) {
    case Requirement::kAny:
      return transport != Transport::kUnknown;
    case Requirement::kEfa:
      return transport == Transport::kEfa;
    case Requirement::kIb:
      return transport == Transport::kIb;
    case Requirement::kRoce:
      return transport == Transport::kRoce;
  }
  return false;
}

}  // namespace lockstep::transport
