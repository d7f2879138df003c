#include "lockstep/transport/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lockstep/transport/advice.h"
#include "lockstep/transport/description.h"
#include "lockstep/transport/fold.h"
#include "lockstep/transport/net_name.h"
#include "lockstep/transport/proof.h"

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
    describe(verdict_, evidence_, hosts_);
    fold_communicators();
    agree();
    doubt();
    verdict_.networks = used_;
    verdict_.proof = prove(used_, evidence_, hosts_, map_.communicators);
    verdict_.findings = advise(verdict_, evidence_, hosts_);
    return std::move(verdict_);
  }

 private:
  const std::string& name(Id id) const { return evidence_.names().name(id); }

  // ----- communicators

  void fold_communicators() {
    const JobEvidence job{evidence_, hosts_, map_.merged};
    for (const Communicator& communicator : map_.communicators) {
      if (communicator.is_named) verdict_.num_ranks = std::max(verdict_.num_ranks, communicator.num_ranks);
      verdict_.communicators.push_back(fold(communicator, job));
    }
    std::set<std::string> used;
    for (const CommunicatorVerdict& communicator : verdict_.communicators) {
      if (communicator.transport != Transport::kUnknown ||
          communicator.ranks_selected == communicator.num_ranks)
        used.insert(communicator.networks.begin(), communicator.networks.end());
    }
    used_ = sorted(used);
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
    explain(known);
    if (verdict_.transport == Transport::kUnknown) mix_merged_lines();
  }

  // Ray shows each different line at least once: several networks, or providers, in merged lines
  // mean that ranks or communicators disagree, whoever they are.
  void mix_merged_lines() {
    const LogEvidence::Counts& counts = evidence_.counts();
    if (!counts.deduplicated) return;
    std::set<std::string> named;
    for (const auto& [net, times] : counts.networks) {
      if (is_known_net(name(net))) named.insert(name(net));
    }
    const bool providers_differ = counts.providers.size() > 1 && named.size() == 1 && is_ofi(*named.begin());
    if (named.size() < 2 && !providers_differ) return;
    verdict_.transport = Transport::kMixed;
    verdict_.level = Level::kSelected;
    verdict_.reason = named.size() < 2 ? "Ray's merged lines select several providers"
                                       : fmt::format("Ray's merged lines name {}", fmt::join(named, " and "));
    used_ = sorted(named);
  }

  // The level and the reason: of the communicator that decides.
  void explain(const std::set<Transport>& known) {
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
      if (stray.key.medium == PathLine::Medium::kNet && is_other(stray.key.net, stray.transport))
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
    const bool is_used = std::binary_search(used_.begin(), used_.end(), name(net));
    return evidence_.is_network(net) && transport != verdict_.transport &&
           (transport != Transport::kUnknown || !is_used);
  }

  const LogEvidence& evidence_;
  const HostMap hosts_;
  const CommunicatorMap map_;
  JobVerdict verdict_;
  // Networks of communicators that have a verdict, or all of whose ranks named one.
  std::vector<std::string> used_;
};

}  // namespace

JobVerdict judge(const LogEvidence& evidence) { return Judge(evidence).judge(); }

}  // namespace lockstep::transport
