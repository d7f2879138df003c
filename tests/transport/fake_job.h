// Logs as NCCL of a given version prints them, made for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

// A communicator's ranks as indices into a job's processes, in rank order.
struct FakeCommunicator {
  uint64_t id = 0x7a31c0de55aa10f1;
  std::vector<int> processes;
  int split_of = -1;  // index of the parent among a process' communicators; its color and count:
  int color = 0, split_count = 1;
};

// One process, one rank. Each method appends the lines that NCCL prints at that point.
class FakeProcess {
 public:
  FakeProcess(std::string nccl, std::string host, int pid, int device, std::string ip)
      : nccl_(std::move(nccl)), host_(std::move(host)), ip_(std::move(ip)), pid_(pid), device_(device) {}

  void info(const std::string& text);  // with the prefix of this process
  void warn(const std::string& text);
  void raw(const std::string& line) { lines_.push_back(line); }

  void start();  // bootstrap and version
  // The OFI plugin: 1.7 and newer. fabric is printed by 1.14 and newer.
  void ofi(const std::string& plugin, const std::string& provider, const std::string& fabric = "efa");
  void no_plugin();
  void no_ib();  // with the decoy of 2.24 and newer
  void socket();
  void ib(const std::string& devices) {
    info("NET/IB : Using " + devices + " [RO]; OOB eth0:" + ip_ + "<0>");
  }
  void network(const std::string& name);

  void comm_start(const FakeCommunicator& communicator, int rank);
  void comm_shape(const FakeCommunicator& communicator, int rank, int num_nodes, bool mnnvl = false);
  void comm_complete(const FakeCommunicator& communicator, int rank);
  void comm_end(const FakeCommunicator& communicator, int rank);
  void net_path(int from, int to, int from_device, int to_device, bool is_sender, const std::string& net,
                bool gpu_direct);
  void local_path(int from, int to, int to_device, const std::string& how = "P2P/CUMEM");

  const std::vector<std::string>& lines() const { return lines_; }
  const std::string& host() const { return host_; }
  const std::string& ip() const { return ip_; }
  int pid() const { return pid_; }
  int device() const { return device_; }
  bool at_least(int minor, int patch = 0) const;  // NCCL 2.minor.patch

 private:
  std::string comm_words(const FakeCommunicator& communicator, int rank, bool is_start) const;
  std::string label(int device) const;
  uint64_t pointer(const FakeCommunicator& communicator) const;

  std::string nccl_, host_, ip_;
  int pid_, device_;
  std::vector<std::string> lines_;
};

struct FakeJob {
  std::string nccl = "2.28.9";
  int hosts = 2, ranks_per_host = 2;
  std::string net = "Libfabric";
  std::string plugin = "1.17.2", provider = "efa";  // provider "" : no plugin
  std::string ib_devices;                           // "[0]mlx5_0:1/IB": what NET/IB lists
  bool gpu_direct = true;
  bool connects = true;

  // Processes that have printed all until they know their network, host after host.
  std::vector<FakeProcess> processes() const;
};

// Opens `communicator` over processes that have named `net`, and, if `connects`, joins its ranks in
// a ring: over `net` between hosts, over P2P inside.
void open_communicator(std::vector<FakeProcess>& processes, const FakeCommunicator& communicator,
                       const std::string& net, bool gpu_direct = true, bool connects = true);

FakeCommunicator world(const std::vector<FakeProcess>& processes);

// The whole of it: processes(), network() and open_communicator() for all.
std::vector<FakeProcess> run(const FakeJob& job);

// One rank after the other.
std::string text_of(const std::vector<FakeProcess>& processes);
JobVerdict verdict_of(const std::vector<FakeProcess>& processes);
// Lines of the ranks in turn, each rank's own in order.
std::string interleaved(const std::vector<std::vector<std::string>>& ranks, uint32_t seed);
std::vector<std::vector<std::string>> lines_by_process(const std::vector<FakeProcess>& processes);

}  // namespace lockstep::transport
