#include "tests/transport/fake_job.h"

#include <fmt/format.h>

#include <cstdio>
#include <random>
#include <set>

#include "tests/transport/log_files.h"

namespace lockstep::transport {

bool FakeProcess::at_least(int minor, int patch) const {
  int major = 0, own_minor = 0, own_patch = 0;
  std::sscanf(nccl_.c_str(), "%d.%d.%d", &major, &own_minor, &own_patch);
  return own_minor > minor || (own_minor == minor && own_patch >= patch);
}

void FakeProcess::info(const std::string& text) {
  lines_.push_back(
      fmt::format("{}:{}:{} [{}] NCCL INFO {}", host_, pid_, pid_ + 700 + device_, device_, text));
}

void FakeProcess::warn(const std::string& text) {
  lines_.push_back("");
  const std::string time = at_least(26) ? "[2026-02-03 10:00:00] " : "";
  lines_.push_back(fmt::format(
      "{}{}:{}:{} [{}] int nccl_net_ofi_create_plugin(nccl_net_ofi_plugin**, bool):341 NCCL WARN {}", time,
      host_, pid_, pid_ + 700 + device_, device_, text));
}

void FakeProcess::start() {
  info(fmt::format("Bootstrap{}: Using eth0:{}<0>", at_least(24) ? "" : " ", ip_));
  info("cudaDriverVersion 12040");
  if (at_least(22)) {
    info("NCCL version " + nccl_ + "+cuda12.4");
  } else {
    raw("NCCL version " + nccl_ + "+cuda12.4");
  }
}

void FakeProcess::ofi(const std::string& plugin, const std::string& provider, const std::string& fabric) {
  int minor = 0;
  std::sscanf(plugin.c_str(), "1.%d", &minor);
  info((minor >= 7 ? "NET/OFI Initializing aws-ofi-nccl " : "NET/OFI Using aws-ofi-nccl ") + plugin);
  if (minor >= 8) info("NET/OFI Using Libfabric version 2.1");
  if (provider == "efa") info("NET/OFI Configuring AWS-specific options");
  if (minor >= 14) {
    info(fmt::format("NET/OFI Selected provider is {}, fabric is {} (found 4 nics)", provider, fabric));
  } else {
    info(fmt::format("NET/OFI Selected Provider is {}{}", provider, minor >= 6 ? " (found 4 nics)" : ""));
  }
  if (minor >= 7) info("NET/OFI Using transport protocol SENDRECV");
}

void FakeProcess::no_plugin() {
  const std::string error = "libnccl-net.so: cannot open shared object file: No such file or directory";
  if (at_least(28)) return info("NET/Plugin: Could not find: libnccl-net.so");
  if (at_least(27)) return info("NET/Plugin: Could not find: libnccl-net.so. ");
  if (at_least(26)) return info("NET/Plugin: Could not find: libnccl-net.so. Using internal net plugin.");
  if (at_least(22)) return info("NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.");
  if (at_least(21)) {
    info("NET/Plugin: No plugin found (libnccl-net.so)");
    info("NET/Plugin: Plugin load returned 2 : " + error + " : when loading libnccl-net.so");
    return info("NET/Plugin: Using internal network plugin.");
  }
  if (at_least(19))
    return info("NET/Plugin : dlerror=" + error +
                " No plugin found (libnccl-net.so), using internal implementation");
  info("NET/Plugin : Plugin load (libnccl-net.so) returned 2 : " + error);
  info("NET/Plugin : No plugin found, using internal implementation");
}

void FakeProcess::no_ib() {
  info("NET/IB : No device found.");
  if (at_least(24)) info("NET/IB : Using [RO]; OOB eth0:" + ip_ + "<0>");
}

void FakeProcess::socket() { info("NET/Socket : Using [0]eth0:" + ip_ + "<0>"); }

void FakeProcess::network(const std::string& name) {
  if (at_least(27)) info("Assigned NET plugin " + name + " to comm");
  if (at_least(19, 1) && !at_least(22)) info("Using non-device net plugin version 0");
  info("Using network " + name);
}

uint64_t FakeProcess::pointer(const FakeCommunicator& communicator) const {
  return 0x560000000000u + static_cast<uint64_t>(pid_) * 0x10000000 +
         static_cast<uint64_t>(device_) * 0x100000 + communicator.id % 0xFFFF * 16 +
         (communicator.split_of >= 0 ? 8u + static_cast<unsigned>(communicator.split_count) : 0u);
}

std::string FakeProcess::label(int device) const {
  return at_least(18, 3) ? std::to_string(device) : fmt::format("{:x}", 0x101c0 + 0x10 * device);
}

std::string FakeProcess::comm_words(const FakeCommunicator& communicator, int rank, bool is_start) const {
  const std::string function = !at_least(21)                ? ""
                               : communicator.split_of >= 0 ? "ncclCommSplit "
                               : at_least(23)               ? "ncclCommInitRankConfig "
                                                            : "ncclCommInitRank ";
  std::string words =
      at_least(29) && is_start && communicator.split_of < 0 ? fmt::format("[Rank {}] ", rank) : "";
  words += fmt::format("{}comm {:#x} rank {} nranks {} cudaDev {}", function, pointer(communicator), rank,
                       communicator.processes.size(), device_);
  if (at_least(18, 3) || !at_least(5)) words += fmt::format(" nvmlDev {}", device_);
  if (at_least(5)) words += fmt::format(" busId {:x}", 0x101c0 + 0x10 * device_);
  if (communicator.split_of >= 0 && at_least(21)) {
    FakeCommunicator parent;
    parent.id = communicator.id;
    words += fmt::format(" parent {:#x}", pointer(parent));
    if (at_least(29)) {
      words += fmt::format(" childCount {}", communicator.split_count);
    } else if (at_least(24)) {
      words += fmt::format(" splitCount {}", communicator.split_count);
    }
    words += fmt::format(" color {} key 0", communicator.color);
    if (!at_least(23))
      words += fmt::format(" commId {:#x}", communicator.id +
                                                static_cast<uint64_t>(communicator.split_count) * 64 +
                                                static_cast<uint64_t>(communicator.color));
    return words + (is_start && at_least(23) ? "" : " ");
  }
  if (at_least(18)) words += fmt::format(" commId {:#x}", communicator.id);
  return words + " ";
}

void FakeProcess::comm_start(const FakeCommunicator& communicator, int rank) {
  if (at_least(18, 3)) info(comm_words(communicator, rank, true) + "- Init START");
}

void FakeProcess::comm_shape(const FakeCommunicator& communicator, int rank, int num_nodes, bool mnnvl) {
  if (!at_least(20)) return;
  info(fmt::format("comm {:#x} rank {} nRanks {} nNodes {} localRanks {} localRank 0 MNNVL {}",
                   pointer(communicator), rank, communicator.processes.size(), num_nodes,
                   communicator.processes.size() / static_cast<size_t>(num_nodes), mnnvl ? 1 : 0));
}

void FakeProcess::comm_complete(const FakeCommunicator& communicator, int rank) {
  info(comm_words(communicator, rank, false) + "- Init COMPLETE");
}

void FakeProcess::comm_end(const FakeCommunicator& communicator, int rank) {
  info(fmt::format("comm {:#x} rank {} nranks {} cudaDev {} busId {:x} - Destroy COMPLETE",
                   pointer(communicator), rank, communicator.processes.size(), device_,
                   0x101c0 + 0x10 * device_));
}

void FakeProcess::net_path(int from, int to, int from_device, int to_device, bool is_sender,
                           const std::string& net, bool gpu_direct) {
  const std::string way =
      fmt::format("[{}] via NET/{}/0{}", is_sender ? "send" : "receive", net, gpu_direct ? "/GDRDMA" : "");
  if (!at_least(5)) return info(fmt::format("Ring 00 : {} -> {} {}", from, to, way));
  info(fmt::format("Channel 00{} : {}[{}] -> {}[{}] {}", at_least(11) ? "/0" : "", from, label(from_device),
                   to, label(to_device), way));
}

void FakeProcess::local_path(int from, int to, int to_device, const std::string& how) {
  if (!at_least(5))
    return info(fmt::format("Ring 00 : {}[{}] -> {}[{}] via P2P/IPC", from, device_, to, to_device));
  info(fmt::format("Channel 00{} : {}[{}] -> {}[{}] via {}", at_least(11) ? "/0" : "", from, label(device_),
                   to, label(to_device), at_least(18) ? how : "P2P/IPC"));
}

std::vector<FakeProcess> FakeJob::processes() const {
  std::vector<FakeProcess> processes;
  for (int host = 0; host < hosts; ++host) {
    for (int device = 0; device < ranks_per_host; ++device) {
      processes.emplace_back(nccl, fmt::format("node-{}", host), 1000 + 100 * host + device, device,
                             fmt::format("192.0.2.{}", 11 + host));
      FakeProcess& process = processes.back();
      process.start();
      if (provider.empty()) {
        process.no_plugin();
        if (ib_devices.empty()) {
          process.no_ib();
          process.socket();
        } else {
          process.ib(ib_devices);
        }
      } else {
        process.ofi(plugin, provider);
      }
    }
  }
  return processes;
}

FakeCommunicator world(const std::vector<FakeProcess>& processes) {
  FakeCommunicator communicator;
  for (size_t i = 0; i < processes.size(); ++i) communicator.processes.push_back(static_cast<int>(i));
  return communicator;
}

void open_communicator(std::vector<FakeProcess>& processes, const FakeCommunicator& communicator,
                       const std::string& net, bool gpu_direct, bool connects) {
  const int num_ranks = static_cast<int>(communicator.processes.size());
  std::set<std::string> hosts;
  for (const int index : communicator.processes) hosts.insert(processes[static_cast<size_t>(index)].host());
  for (int rank = 0; rank < num_ranks; ++rank) {
    const auto at = [&](int r) -> FakeProcess& {
      return processes[static_cast<size_t>(
          communicator.processes[static_cast<size_t>((r + num_ranks) % num_ranks)])];
    };
    FakeProcess& own = at(rank);
    const FakeProcess& next = at(rank + 1);
    const FakeProcess& previous = at(rank - 1);
    const auto connect = [&] {
      if (!connects || num_ranks == 1) return;
      if (previous.host() != own.host())
        own.net_path((rank + num_ranks - 1) % num_ranks, rank, previous.device(), own.device(), false, net,
                     gpu_direct);
      if (next.host() != own.host()) {
        own.net_path(rank, (rank + 1) % num_ranks, own.device(), next.device(), true, net, gpu_direct);
      } else {
        own.local_path(rank, (rank + 1) % num_ranks, next.device());
      }
      own.info("Connected all rings");
    };
    own.comm_start(communicator, rank);
    own.comm_shape(communicator, rank, static_cast<int>(hosts.size()));
    if (!own.at_least(22)) connect();
    own.comm_complete(communicator, rank);
    if (own.at_least(22)) connect();
  }
}

std::vector<FakeProcess> run(const FakeJob& job) {
  std::vector<FakeProcess> processes = job.processes();
  for (FakeProcess& process : processes) {
    if (process.at_least(6)) process.network(job.net);
  }
  open_communicator(processes, world(processes), job.net, job.gpu_direct, job.connects);
  return processes;
}

std::string text_of(const std::vector<FakeProcess>& processes) {
  std::string text;
  for (const FakeProcess& process : processes) {
    for (const std::string& line : process.lines()) text += line + "\n";
  }
  return text;
}

std::vector<std::vector<std::string>> lines_by_process(const std::vector<FakeProcess>& processes) {
  std::vector<std::vector<std::string>> lines;
  for (const FakeProcess& process : processes) lines.push_back(process.lines());
  return lines;
}

std::string interleaved(const std::vector<std::vector<std::string>>& ranks, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<size_t> next(ranks.size(), 0), open;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i].empty()) open.push_back(i);
  }
  std::string text;
  while (!open.empty()) {
    const size_t pick = random() % open.size();
    const size_t rank = open[pick];
    text += ranks[rank][next[rank]++] + "\n";
    if (next[rank] == ranks[rank].size()) open.erase(open.begin() + static_cast<ptrdiff_t>(pick));
  }
  return text;
}

JobVerdict verdict_of(const std::vector<FakeProcess>& processes) { return verdict_on(text_of(processes)); }

}  // namespace lockstep::transport
