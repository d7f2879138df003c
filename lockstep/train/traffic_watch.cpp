#include "lockstep/train/traffic_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "lockstep/base/network_devices.h"
#include "lockstep/base/optional_json.h"
#include "lockstep/transport/expected_bytes.h"
#include "lockstep/transport/host_traffic.h"

namespace lockstep::train {
namespace {

using transport::HostTraffic;

constexpr std::chrono::milliseconds kIdle{100};
constexpr std::chrono::milliseconds kCounterLifespan{30};  // EFA's driver gives values up to 10 ms old

HostTraffic read_counters() { return transport::counters_of(network_devices()); }

}  // namespace

TrafficWatch::TrafficWatch(comm::Rendezvous& rendezvous, comm::Mesh& mesh, std::vector<std::string> hosts)
    : rendezvous_(rendezvous), mesh_(mesh), hosts_(std::move(hosts)) {
  if (is_first_of_its_host()) {
    const HostTraffic before = read_counters();
    const Stopwatch stopwatch;
    std::this_thread::sleep_for(kIdle);
    start_ = read_counters();
    const auto idle = transport::sent_between(before, start_).ethernet_bytes;
    idle_ethernet_bytes_per_s_ = static_cast<double>(idle.value_or(0)) / stopwatch.seconds();
  }
  bytes_at_start_ = group_bytes();
  since_start_.restart();
}

bool TrafficWatch::is_first_of_its_host() const {
  const auto mine = hosts_.begin() + rendezvous_.rank();
  return std::find(hosts_.begin(), mine, *mine) == mine;
}

std::vector<int64_t> TrafficWatch::group_bytes() const {
  std::vector<int64_t> bytes;
  for (const auto& membership : mesh_.memberships()) bytes.push_back(membership.communicator->bytes_sent());
  return bytes;
}

HostTraffic TrafficWatch::sent_since_start() const {
  std::this_thread::sleep_for(kCounterLifespan);
  HostTraffic sent = transport::sent_between(start_, read_counters());
  if (sent.ethernet_bytes) {
    *sent.ethernet_bytes -= static_cast<int64_t>(idle_ethernet_bytes_per_s_ * since_start_.seconds());
  }
  return sent;
}

// This rank's groups stand for those of the others, which have as many ranks on as many hosts.
transport::ExpectedBytes TrafficWatch::expected() const {
  std::vector<transport::GroupTraffic> groups;
  const auto memberships = mesh_.memberships();
  const std::vector<int64_t> bytes = group_bytes();
  const auto ranks_here =
      std::count(hosts_.begin(), hosts_.end(), hosts_[static_cast<size_t>(rendezvous_.rank())]);
  for (size_t i = 0; i < memberships.size(); ++i) {
    std::map<std::string, int> per_host;
    for (const int rank : memberships[i].ranks) ++per_host[hosts_[static_cast<size_t>(rank)]];
    transport::GroupTraffic group{.ranks_per_host = {}, .sent_bytes = bytes[i] - bytes_at_start_[i]};
    for (const auto& [host, count] : per_host) group.ranks_per_host.push_back(count);
    const auto own = per_host[hosts_[static_cast<size_t>(rendezvous_.rank())]];
    groups.insert(groups.end(), static_cast<size_t>(ranks_here / own), group);
  }
  return transport::expected_bytes(groups);
}

std::optional<transport::MovedVerdict> TrafficWatch::finish(const std::string& name,
                                                            transport::Transport by_log) {
  const auto key = [&](const std::string& host) { return fmt::format("traffic/{}/{}", name, host); };
  const transport::ExpectedBytes bytes = expected();
  if (rendezvous_.rank() != 0) {
    if (!is_first_of_its_host()) return std::nullopt;
    const HostTraffic sent = sent_since_start();
    const Json json = {or_null(sent.efa_bytes), or_null(sent.verbs_bytes), or_null(sent.ethernet_bytes)};
    rendezvous_.post(key(hosts_[static_cast<size_t>(rendezvous_.rank())]), json.dump());
    return std::nullopt;
  }
  if (bytes.least <= 0)
    return transport::MovedVerdict{transport::Transport::kUnknown, "nothing was to go between hosts"};
  std::vector<HostTraffic> all;
  for (const std::string& host : std::set<std::string>(hosts_.begin(), hosts_.end())) {
    HostTraffic sent;
    if (host == hosts_.front()) {
      sent = sent_since_start();
    } else {
      const Json json =
          Json::parse(rendezvous_.fetch(key(host), rendezvous_.timeout(), "the counters of " + host));
      sent.efa_bytes = optional_of<int64_t>(json.at(0));
      sent.verbs_bytes = optional_of<int64_t>(json.at(1));
      sent.ethernet_bytes = optional_of<int64_t>(json.at(2));
    }
    sent.host = host.substr(0, host.find('/'));
    all.push_back(sent);
  }
  return transport::judge_moved(all, bytes, by_log);
}

}  // namespace lockstep::train
