#include "lockstep/transport/moved.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lockstep/base/byte_size.h"
#include "lockstep/base/check.h"

namespace lockstep::transport {
namespace {

constexpr int64_t kLeastTold = 50'000'000;

struct Counter {
  std::string_view device;
  std::optional<int64_t> bytes;
  Transport transport;
};

bool carried(const Counter& counter, const ExpectedBytes& expected) {
  const double bytes = static_cast<double>(counter.bytes.value_or(0));
  return bytes >= 0.95 * static_cast<double>(expected.least) &&
         bytes <= 1.2 * static_cast<double>(expected.most);
}

bool is_idle(const Counter& counter, const ExpectedBytes& expected) {
  return static_cast<double>(counter.bytes.value_or(0)) < 0.05 * static_cast<double>(expected.least);
}

// On one host: the only device that carried the work.
MovedVerdict judge_host(const HostTraffic& host, const ExpectedBytes& expected, Transport by_log) {
  const Transport verbs = by_log == Transport::kRoce ? Transport::kRoce : Transport::kIb;
  const Transport tcp = by_log == Transport::kOfiTcp ? Transport::kOfiTcp : Transport::kSocket;
  const Counter counters[] = {{"EFA", host.efa_bytes, Transport::kEfa},
                              {"InfiniBand or RoCE", host.verbs_bytes, verbs},
                              {"Ethernet", host.ethernet_bytes, tcp}};
  const Counter* carrier = nullptr;
  bool others_idle = true;
  std::string all;
  for (const Counter& counter : counters) {
    if (counter.bytes) {
      all += fmt::format("{}{} sent {}", all.empty() ? "" : ", ", counter.device,
                         format_bytes(std::max<int64_t>(0, *counter.bytes)));
    }
    if (counter.bytes && carried(counter, expected)) {
      others_idle = others_idle && carrier == nullptr;
      carrier = &counter;
    } else {
      others_idle = others_idle && is_idle(counter, expected);
    }
  }
  if (all.empty())
    return {Transport::kUnknown, fmt::format("the network counters of {} cannot be read", host.host)};
  const std::string expectation =
      fmt::format("{} to {} were to be sent", format_bytes(expected.least), format_bytes(expected.most));
  if (carrier == nullptr || !others_idle)
    return {Transport::kUnknown, fmt::format("on {} {}; {}", host.host, all, expectation)};
  return {carrier->transport, fmt::format("on {} {}; {}", host.host, all, expectation)};
}

}  // namespace

MovedVerdict judge_moved(std::span<const HostTraffic> hosts, const ExpectedBytes& expected,
                         Transport by_log) {
  LOCKSTEP_CHECK(0 < expected.least && expected.least <= expected.most)
      << expected.least << " to " << expected.most << " bytes";
  if (expected.least < kLeastTold)
    return {Transport::kUnknown,
            fmt::format("{} are too few to tell: count over more steps", format_bytes(expected.least))};
  if (hosts.empty()) return {Transport::kUnknown, "no host gave its counters"};
  std::set<Transport> seen;
  MovedVerdict first;
  for (const HostTraffic& host : hosts) {
    const MovedVerdict verdict = judge_host(host, expected, by_log);
    if (verdict.transport == Transport::kUnknown) return verdict;
    if (seen.empty()) first = verdict;
    seen.insert(verdict.transport);
  }
  if (seen.size() > 1) return {Transport::kMixed, fmt::format("hosts differ: {}", first.reason)};
  return first;
}

void overrule(JobVerdict& verdict, const MovedVerdict& moved) {
  if (moved.transport == Transport::kUnknown) return;
  if (moved.transport != verdict.transport) {
    verdict.reason = fmt::format("the log says {}, but {}", word(verdict.transport), moved.reason);
  } else {
    verdict.reason += "; " + moved.reason;
  }
  verdict.transport = moved.transport;
  verdict.level = Level::kMoved;
}

}  // namespace lockstep::transport
