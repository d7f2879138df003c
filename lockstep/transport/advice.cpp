#include "lockstep/transport/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "lockstep/transport/clue.h"
#include "lockstep/transport/net_line.h"
#include "lockstep/transport/net_name.h"

namespace lockstep::transport {
namespace {

// What of a verdict needs explaining, as Explains bits.
uint8_t questions(const JobVerdict& verdict) {
  uint8_t bits = kFailure;
  const Transport transport = verdict.transport;
  if (transport == Transport::kSocket || transport == Transport::kMixed || transport == Transport::kUnknown)
    bits |= kFallback;
  if (transport == Transport::kUnknown || transport == Transport::kOfiTcp) bits |= kStart;
  const bool is_rdma =
      transport == Transport::kEfa || transport == Transport::kIb || transport == Transport::kRoce;
  if (is_rdma && verdict.gpu_direct == GpuDirect::kNo) bits |= kNoGpuDirect;
  return bits;
}

void add_clues(const JobVerdict& verdict, const LogEvidence& evidence, std::vector<Finding>& findings) {
  std::vector<ClueLog::Seen> seen = evidence.clues().seen();
  std::sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.clue < b.clue; });
  for (const ClueLog::Seen& clue_seen : seen) {
    const Clue& clue = clues()[static_cast<size_t>(clue_seen.clue)];
    if ((clue.explains & questions(verdict)) == 0) continue;
    findings.push_back(
        Finding{std::string(clue.cause), std::string(clue.fix), clue_seen.count, clue_seen.first});
  }
}

// "node-0 uses AWS Libfabric, node-1 uses Socket".
void add_disagreement(const JobVerdict& verdict, const LogEvidence& evidence, const HostMap& hosts,
                      std::vector<Finding>& findings) {
  if (verdict.transport != Transport::kMixed) return;
  std::map<std::string, std::set<std::string>> hosts_by_nets;
  std::map<int, std::set<std::string>> nets_of_host;
  for (size_t i = 0; i < evidence.processes().size(); ++i) {
    if (hosts.host_of[i] < 0) continue;
    for (const auto& quote : evidence.processes()[i].quotes)
      nets_of_host[hosts.host_of[i]].insert(evidence.names().name(quote.net));
  }
  for (const auto& [host, nets] : nets_of_host)
    hosts_by_nets[fmt::format("{}", fmt::join(nets, " and "))].insert(hosts.names[static_cast<size_t>(host)]);
  if (hosts_by_nets.size() < 2) return;
  std::string words;
  for (const auto& [nets, names] : hosts_by_nets) {
    const std::string first = *names.begin();
    words += fmt::format("{}{}{} {} {}", words.empty() ? "" : ", ", first,
                         names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "",
                         names.size() > 1 ? "use" : "uses", nets);
  }
  findings.push_back(
      Finding{words,
              "use one image and one environment on all nodes; NCCL_NET set to the wanted network makes a "
              "missing plugin an error instead of a hang"});
}

void add_versions(const std::vector<std::string>& versions, std::string_view library,
                  std::vector<Finding>& findings) {
  if (versions.size() < 2) return;
  findings.push_back(
      Finding{fmt::format("ranks load different versions of {}: {}", library, fmt::join(versions, ", ")),
              "use one image on all nodes, and look for a second copy on LD_LIBRARY_PATH"});
}

void add_wordings(const JobVerdict& verdict, const LogEvidence& evidence, std::vector<Finding>& findings) {
  std::set<uint8_t> wordings;
  for (const ProcessLog& process : evidence.processes()) {
    if (process.plugin_wording != 0) wordings.insert(process.plugin_wording);
  }
  if (wordings.size() < 2 || verdict.nccl_versions.size() > 1) return;
  std::vector<std::string> versions;
  for (const uint8_t wording : wordings) versions.emplace_back(versions_of_wording(wording));
  add_versions(versions, "NCCL (by the words of their lines)", findings);
}

void add_provider(const JobVerdict& verdict, const LogEvidence& evidence, std::vector<Finding>& findings) {
  if (verdict.transport != Transport::kOfiTcp) return;
  const bool on_aws = std::any_of(evidence.processes().begin(), evidence.processes().end(),
                                  [](const ProcessLog& process) { return process.on_aws; });
  findings.push_back(
      {fmt::format("libfabric selected the provider {}: TCP inside the plugin",
                   fmt::join(verdict.providers, ", ")),
       on_aws ? "unset FI_PROVIDER: it overrules the plugin's choice of efa"
              : "unset FI_PROVIDER; the plugin did not see that it runs on EC2 (no \"Configuring "
                "AWS-specific options\" "
                "in the log), so give the container /sys/devices/virtual/dmi and /dev/infiniband"});
}

// On instance types of the p family a connection without GPUDirect is a fault, and the lines that
// say why are printed only by some versions.
void add_gpu_direct(const JobVerdict& verdict, std::vector<Finding>& findings) {
  if (verdict.transport != Transport::kEfa || verdict.gpu_direct == GpuDirect::kYes ||
      verdict.level < Level::kConnected)
    return;
  for (const std::string& platform : verdict.platforms) {
    if (!platform.starts_with("p4") && !platform.starts_with("p5") && !platform.starts_with("p6")) continue;
    findings.push_back(
        Finding{fmt::format("{} has GPUDirect RDMA, but {} connections use it", platform,
                            verdict.gpu_direct == GpuDirect::kNo ? "no" : "not all"),
                "load efa_nv_peermem or nvidia-peermem, or use the open GPU driver with a kernel of 5.12 "
                "or newer (DMA-BUF)"});
    return;
  }
}

void add_device_counts(const JobVerdict& verdict, std::vector<Finding>& findings) {
  if (verdict.device_counts.size() < 2) return;
  findings.push_back(Finding{fmt::format("processes found different numbers of EFA devices: {}",
                                         fmt::join(verdict.device_counts, ", ")),
                             "give every container all devices of its node (in Kubernetes: the same count of "
                             "vpc.amazonaws.com/efa in every pod)"});
}

void add_loopback(const LogEvidence& evidence, const JobVerdict& verdict, std::vector<Finding>& findings) {
  if (!evidence.clues().loopback_bootstrap() || verdict.transport == Transport::kNone) return;
  findings.push_back(
      Finding{"NCCL's bootstrap listens on the loopback interface, which other hosts cannot reach",
              "set NCCL_SOCKET_IFNAME to an interface that they reach, or exclude: ^docker0,lo", 0,
              *evidence.clues().loopback_bootstrap()});
}

// TCP, and no line that explains it: the plugin may never have been looked for.
void add_unexplained(const JobVerdict& verdict, std::vector<Finding>& findings) {
  if (verdict.transport != Transport::kSocket || !findings.empty()) return;
  findings.push_back(Finding{
      "no line says why NCCL took TCP",
      "look for NCCL_NET, NCCL_NET_PLUGIN and NCCL_IB_DISABLE in the environment and in /etc/nccl.conf; "
      "NCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,NET,ENV prints more"});
}

// Where evidence is missing: which, and how to get it.
void add_missing(const JobVerdict& verdict, const LogEvidence& evidence, std::vector<Finding>& findings) {
  if (verdict.transport != Transport::kUnknown) return;
  if (evidence.past_limits()) {
    findings.push_back(Finding{"the log names more processes or connections than are kept",
                               "check the logs of one job at a time"});
    return;
  }
  if (verdict.num_records == 0 || evidence.processes().empty()) {
    findings.push_back(Finding{"the log holds no lines of NCCL's INFO level",
                               "run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,NET,ENV "
                               "(/etc/nccl.conf and NCCL_DEBUG_FILE may "
                               "send them elsewhere)"});
    return;
  }
  if (verdict.communicators.empty()) {
    findings.push_back(
        Finding{"no line names a communicator",
                "the start of the log may be missing (rotated?), or NCCL_DEBUG_SUBSYS lacks INIT"});
    return;
  }
  for (const CommunicatorVerdict& communicator : verdict.communicators) {
    if (communicator.transport != Transport::kUnknown || communicator.silent_ranks.empty()) continue;
    findings.push_back(Finding{
        fmt::format("communicator {}: {} of {} ranks say no network, the first of them rank {}",
                    communicator.name, communicator.num_ranks - communicator.ranks_selected,
                    communicator.num_ranks, communicator.silent_ranks.front()),
        "give the logs of all ranks together; under Ray set RAY_DEDUP_LOGS=0; a rank may hang or have "
        "failed before it chose"});
    return;
  }
}

}  // namespace

std::vector<Finding> advise(const JobVerdict& verdict, const LogEvidence& evidence, const HostMap& hosts) {
  std::vector<Finding> findings;
  add_disagreement(verdict, evidence, hosts, findings);
  add_provider(verdict, evidence, findings);
  add_clues(verdict, evidence, findings);
  add_gpu_direct(verdict, findings);
  add_device_counts(verdict, findings);
  add_loopback(evidence, verdict, findings);
  add_unexplained(verdict, findings);
  add_missing(verdict, evidence, findings);
  add_versions(verdict.nccl_versions, "NCCL", findings);
  add_wordings(verdict, evidence, findings);
  add_versions(verdict.plugin_versions, "aws-ofi-nccl", findings);
  add_versions(verdict.libfabric_versions, "libfabric", findings);
  return findings;
}

}  // namespace lockstep::transport
