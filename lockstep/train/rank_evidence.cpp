#include "lockstep/train/rank_evidence.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/base/optional_json.h"
#include "lockstep/transport/efficiency.h"
#include "lockstep/transport/host_key.h"

namespace lockstep::train {
namespace {

constexpr size_t kMostLogBytes = 4'000'000;  // the store takes values of 8 MB

Json device_json(const NetworkDevice& device) {
  return {{"name", device.name},
          {"kind", static_cast<int>(device.kind)},
          {"line_rate", or_null(device.line_rate)},
          {"sent_bytes", or_null(device.sent_bytes)},
          {"numa_node", or_null(device.numa_node)}};
}

NetworkDevice device_of(const Json& json) {
  return {.name = json.at("name"),
          .kind = static_cast<NetworkDevice::Kind>(json.at("kind").get<int>()),
          .line_rate = optional_of<int64_t>(json.at("line_rate")),
          .sent_bytes = optional_of<int64_t>(json.at("sent_bytes")),
          .numa_node = optional_of<int>(json.at("numa_node"))};
}

}  // namespace

RankEvidence RankEvidence::of_this_process(std::string log, std::string failure) {
  RankEvidence evidence{.host = transport::host_key(), .name = transport::host_name()};
  evidence.interfaces = transport::socket_interfaces(log);
  evidence.log = std::move(log);
  evidence.failure = std::move(failure);
  evidence.devices = network_devices();
  return evidence;
}

Json RankEvidence::to_json() const {
  Json listed = Json::array();
  for (const NetworkDevice& device : devices) listed.push_back(device_json(device));
  const size_t cut = log.size() <= kMostLogBytes ? log.size() : log.rfind('\n', kMostLogBytes) + 1;
  return {{"host", host},       {"name", name},      {"log", log.substr(0, cut)},
          {"failure", failure}, {"devices", listed}, {"interfaces", interfaces}};
}

RankEvidence RankEvidence::from_json(const Json& json) {
  RankEvidence evidence{.host = json.at("host"),
                        .name = json.at("name"),
                        .log = json.at("log"),
                        .failure = json.at("failure"),
                        .interfaces = json.at("interfaces")};
  for (const Json& device : json.at("devices")) evidence.devices.push_back(device_of(device));
  return evidence;
}

std::vector<RankEvidence> collect(comm::Rendezvous& rendezvous, const std::string& stage,
                                  const RankEvidence& mine, std::chrono::milliseconds timeout) {
  const auto key = [&](int rank) { return fmt::format("evidence/{}/{}", stage, rank); };
  std::vector<RankEvidence> all;
  if (rendezvous.rank() != 0) {
    rendezvous.post(key(rendezvous.rank()),
                    mine.to_json().dump(-1, ' ', false, Json::error_handler_t::replace));
    return all;
  }
  all.push_back(mine);
  for (int rank = 1; rank < rendezvous.world_size(); ++rank) {
    const std::string what = fmt::format("rank {}'s word on the network", rank);
    all.push_back(RankEvidence::from_json(Json::parse(rendezvous.fetch(key(rank), timeout, what))));
    rendezvous.forget(key(rank));
  }
  return all;
}

}  // namespace lockstep::train
