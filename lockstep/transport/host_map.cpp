#include "lockstep/transport/host_map.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

namespace lockstep::transport {
namespace {

constexpr uint64_t kMinLines = 3;

using Id = NameTable::Id;

struct Namesakes {
  std::vector<uint32_t> processes;
  std::set<uint32_t> pids;
  std::map<Id, std::set<Id>> ips_by_interface;
  std::set<Id> nodes;
  uint64_t num_lines = 0;
  std::set<Id> nodes_with_address;
};

std::map<Id, Namesakes> by_host_name(const LogEvidence& evidence) {
  std::map<Id, Namesakes> hosts;
  const auto& processes = evidence.processes();
  for (uint32_t i = 0; i < processes.size(); ++i) {
    Namesakes& same = hosts[processes[i].host];
    same.processes.push_back(i);
    same.pids.insert(processes[i].pid);
    same.num_lines += processes[i].num_lines;
    same.nodes.insert(processes[i].node);
    if (!processes[i].addresses.empty()) same.nodes_with_address.insert(processes[i].node);
    for (const auto& address : processes[i].addresses)
      same.ips_by_interface[address.interface].insert(address.ip);
  }
  return hosts;
}

// Whether `piece` is only a name that glueing made of `whole`: few lines, and no process of its own.
bool is_piece(const Namesakes& piece, const Namesakes& whole) {
  return piece.num_lines * 4 <= whole.num_lines &&
         std::includes(whole.pids.begin(), whole.pids.end(), piece.pids.begin(), piece.pids.end());
}

// Lines of several writers into one pipe leave names such as "NCnode-0", where the end of a cut
// line stands before a whole record, or "de-0". By name: the host that is meant.
std::map<Id, Id> glued_names(const LogEvidence& evidence, const std::map<Id, Namesakes>& hosts) {
  std::unordered_map<std::string_view, Id> known;
  for (const auto& [id, same] : hosts) known.emplace(evidence.names().name(id), id);
  std::map<Id, Id> meant;
  for (const auto& [id, same] : hosts) {
    const std::string_view text = evidence.names().name(id);
    for (size_t begin = 1; begin < text.size(); ++begin) {
      const auto end = known.find(text.substr(begin));
      if (end == known.end()) continue;
      const Namesakes& other = hosts.at(end->second);
      if (is_piece(same, other)) meant.emplace(id, end->second);
      if (is_piece(other, same)) meant.emplace(end->second, id);
    }
  }
  return meant;
}

// The interface on which processes of one host name have different addresses; kNone when there is none.
Id telling_interface(const Namesakes& same) {
  for (const auto& [interface, ips] : same.ips_by_interface) {
    if (ips.size() > 1) return interface;
  }
  return NameTable::kNone;
}

class Mapper {
 public:
  explicit Mapper(const LogEvidence& evidence) : evidence_(evidence) {
    map_.host_of.assign(evidence.processes().size(), HostMap::kFragment);
  }

  void add(Id name, const Namesakes& same) {
    if (same.num_lines < kMinLines) return;
    if (const Id interface = telling_interface(same); interface != NameTable::kNone) {
      split_by_address(name, same, interface);
    } else if (same.nodes.size() > 1 && same.ips_by_interface.empty()) {
      for (const uint32_t i : same.processes) place(i, name, evidence_.processes()[i].node);
    } else {
      // One address for all that printed one; a node of which nobody did may be another host.
      for (const uint32_t i : same.processes) {
        const Id node = evidence_.processes()[i].node;
        const bool is_elsewhere = same.nodes.size() > 1 && !same.nodes_with_address.contains(node);
        place(i, name, is_elsewhere ? node : NameTable::kNone);
      }
      const std::string& text = evidence_.names().name(name);
      if (text == "localhost" && same.ips_by_interface.empty()) map_.doubtful.back() = true;
    }
  }

  // The processes of a glued name are those of the host that is meant.
  void add_glued(const Namesakes& glued, const Namesakes& meant) {
    for (const uint32_t i : glued.processes) {
      for (const uint32_t other : meant.processes) {
        if (evidence_.processes()[other].pid != evidence_.processes()[i].pid) continue;
        map_.host_of[i] = map_.host_of[other];
        break;
      }
    }
  }

  HostMap finish() {
    std::map<std::pair<int, uint32_t>, uint32_t> first;
    const auto& processes = evidence_.processes();
    for (uint32_t i = 0; i < processes.size(); ++i) {
      const int host = map_.host_of[i];
      map_.process.push_back(host < 0 ? i : first.try_emplace({host, processes[i].pid}, i).first->second);
    }
    return std::move(map_);
  }

 private:
  void split_by_address(Id name, const Namesakes& same, Id interface) {
    // A process that printed no address is where its node's others are, if that is one place.
    std::map<Id, std::set<Id>> ips_of_node;
    const auto ip_of = [&](const ProcessLog& process) -> Id {
      const bool one = process.addresses.size() == 1 && process.addresses.front().interface == interface;
      return one ? process.addresses.front().ip : NameTable::kNone;
    };
    for (const uint32_t i : same.processes) {
      const ProcessLog& process = evidence_.processes()[i];
      if (ip_of(process) != NameTable::kNone) ips_of_node[process.node].insert(ip_of(process));
    }
    for (const uint32_t i : same.processes) {
      const ProcessLog& process = evidence_.processes()[i];
      const std::set<Id>& near = ips_of_node[process.node];
      Id ip = ip_of(process);
      if (ip == NameTable::kNone && process.addresses.empty() && process.node != NameTable::kNone &&
          near.size() == 1)
        ip = *near.begin();
      if (ip == NameTable::kNone) {
        map_.host_of[i] = HostMap::kUnknown;
      } else {
        place(i, name, ip);
      }
    }
  }

  void place(uint32_t process, Id name, Id telling) {
    const auto [found, is_new] = index_.try_emplace({name, telling}, static_cast<int>(map_.names.size()));
    if (is_new) {
      std::string text = evidence_.names().name(name);
      if (telling != NameTable::kNone) text += " (" + evidence_.names().name(telling) + ")";
      map_.names.push_back(std::move(text));
      map_.doubtful.push_back(false);
    }
    map_.host_of[process] = found->second;
  }

  const LogEvidence& evidence_;
  HostMap map_;
  std::map<std::pair<Id, Id>, int> index_;
};

}  // namespace

HostMap map_hosts(const LogEvidence& evidence) {
  Mapper mapper(evidence);
  const std::map<Id, Namesakes> hosts = by_host_name(evidence);
  const std::map<Id, Id> glued = glued_names(evidence, hosts);
  for (const auto& [name, same] : hosts) {
    if (!glued.contains(name)) mapper.add(name, same);
  }
  for (const auto& [name, meant] : glued) {
    if (!glued.contains(meant)) mapper.add_glued(hosts.at(name), hosts.at(meant));
  }
  return mapper.finish();
}

}  // namespace lockstep::transport
