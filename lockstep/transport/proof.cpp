#include "lockstep/transport/proof.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lockstep::transport {
namespace {

using Id = NameTable::Id;
using Quotes = std::map<Id, const Quote*>;

void keep_earlier(Quotes& quotes, Id net, const Quote& quote) {
  const auto [known, is_new] = quotes.try_emplace(net, &quote);
  const auto place = [](const Quote& line) { return std::pair(line.source, line.line); };
  if (!is_new && place(quote) < place(*known->second)) known->second = &quote;
}

bool crosses_hosts(const Communicator& communicator, const HostMap& hosts, uint64_t connection_key) {
  const auto host = [&](uint32_t rank) {
    const auto found = communicator.ranks.find(rank);
    return found == communicator.ranks.end() ? HostMap::kUnknown
                                             : hosts.host_of[found->second.front().process];
  };
  const auto [sender, receiver] = Communicator::ranks_of(connection_key);
  return host(sender) >= 0 && host(receiver) >= 0 && host(sender) != host(receiver);
}

}  // namespace

std::vector<Quote> prove(const std::vector<std::string>& used, const LogEvidence& evidence,
                         const HostMap& hosts, const std::vector<Communicator>& communicators) {
  Quotes connected, named;
  const auto add = [&](uint32_t process, Id net, bool is_path, Quotes& quotes) {
    for (const auto& quote : evidence.processes()[process].quotes) {
      if (quote.net == net && quote.is_path == is_path) keep_earlier(quotes, net, quote.quote);
    }
  };
  for (const Communicator& communicator : communicators) {
    for (const auto& [key, connection] : communicator.connections) {
      if (!crosses_hosts(communicator, hosts, key)) continue;
      for (const NetEnd* end : {&connection.send, &connection.receive}) {
        if (end->seen) add(end->process, end->net, true, connected);
      }
    }
  }
  for (uint32_t i = 0; i < evidence.processes().size(); ++i) {
    if (hosts.host_of[i] < 0) continue;
    for (const auto& quote : evidence.processes()[i].quotes) add(i, quote.net, false, named);
  }
  named.merge(Quotes(connected));  // where the line that names it is lost
  std::vector<Quote> proof;
  for (const auto& [net, quote] : named) {
    if (!std::binary_search(used.begin(), used.end(), evidence.names().name(net))) continue;
    proof.push_back(connected.contains(net) ? *connected[net] : *quote);
  }
  return proof;
}

}  // namespace lockstep::transport
