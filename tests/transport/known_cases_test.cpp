// Situations that users met, each with the lines that mislead.
#include <gmock/gmock.h>

#include "tests/transport/fake_job.h"
#include "tests/transport/log_files.h"

namespace lockstep::transport {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Processes that have started; the rest is up to the test.
std::vector<FakeProcess> started(const std::string& nccl, int hosts, int ranks_per_host) {
  std::vector<FakeProcess> processes;
  for (int host = 0; host < hosts; ++host) {
    for (int device = 0; device < ranks_per_host; ++device) {
      processes.emplace_back(nccl, "node-" + std::to_string(host), 1000 + 100 * host + device, device,
                             "192.0.2." + std::to_string(11 + host));
      processes.back().start();
    }
  }
  return processes;
}

void finish(std::vector<FakeProcess>& processes, const std::string& net, bool gpu_direct) {
  for (FakeProcess& process : processes) process.network(net);
  open_communicator(processes, world(processes), net, gpu_direct);
}

TEST(KnownCase, ThePluginLoadsAndItsInitialisationFails) {
  auto processes = started("2.22.3", 2, 8);
  for (FakeProcess& process : processes) {
    process.info("NET/Plugin: Loaded net plugin AWS Libfabric (v8)");
    process.info("NET/OFI Initializing aws-ofi-nccl 1.9.2-aws");
    process.info("NET/OFI Configuring AWS-specific options");
    process.info("NET/OFI Setting provider_filter to efa");
    process.warn("NET/OFI OFI fi_getinfo() call failed: No data available");
    process.warn("NET/OFI aws-ofi-nccl initialization failed");
    process.no_ib();
    process.socket();
  }
  finish(processes, "Socket", false);
  const JobVerdict verdict = verdict_of(processes);
  EXPECT_EQ(verdict.transport, Transport::kSocket);
  EXPECT_THAT(verdict.providers, IsEmpty());
  EXPECT_THAT(verdict.findings.front().cause, HasSubstr("finds no EFA device"));
}

TEST(KnownCase, AContainerWithoutEfaTakesTcpInsideLibfabricAndFails) {
  std::vector<FakeProcess> processes;
  for (int device = 0; device < 8; ++device) {
    processes.emplace_back("2.23.4", "p4d", 100 + device, device, "127.0.0.1");
    FakeProcess& process = processes.back();
    process.info("Bootstrap : Using lo:127.0.0.1<0>");
    process.ofi("1.12.1-aws", "tcp");
    process.network("AWS Libfabric");
    process.warn("NET/OFI Disabling shared memory failed: Protocol not available");
    process.info("init.cc:1447 -> 2");
  }
  EXPECT_THAT(verdict_of(processes).transport, AnyOf(Transport::kNone, Transport::kUnknown));
  open_communicator(processes, world(processes), "AWS Libfabric", false, false);
  EXPECT_THAT(verdict_of(processes).transport, AnyOf(Transport::kNone, Transport::kUnknown));
}

TEST(KnownCase, OneRankOfAHostHasThePluginAndTheOthersFellBack) {
  auto processes = started("2.20.5", 1, 8);
  std::string text;
  for (size_t rank = 0; rank < processes.size(); ++rank) {
    FakeProcess& process = processes[rank];
    if (rank == 0) {
      process.ofi("1.9.1-aws", "efa");
      process.info("NET/OFI Setting NCCL_PROTO to \"simple\"");
    } else {
      process.warn("NET/OFI aws-ofi-nccl initialization failed");
      process.socket();
    }
    process.network(rank == 0 ? "AWS Libfabric" : "Socket");
    process.comm_start(world(processes), static_cast<int>(rank));
    for (const std::string& line : process.lines())
      text += "2025-06-01T10:00:00.123-07:00 | algo-1 | " + line + "\n";
  }
  const JobVerdict verdict = verdict_on(text);
  EXPECT_EQ(verdict.transport, Transport::kMixed);
  EXPECT_THAT(verdict.networks, ElementsAre("AWS Libfabric", "Socket"));
}

TEST(KnownCase, TheNameOfALoadedPluginIsNotItsNetwork) {
  auto processes = started("2.18.1", 2, 2);
  for (FakeProcess& process : processes) {
    process.info("Plugin Path : /opt/hpcx/nccl_rdma_sharp_plugin/lib/libnccl-net.so");
    process.info("NET/Plugin: Loaded net plugin NCCL RDMA Plugin (v6)");
    process.info("P2P plugin IBext");
    process.info("NET/IB : No device found.");
    process.info("NET/IB : No device found.");
    process.info(
        "NET/Socket : Using [0]eth0:192.0.2.11<0> [1]ib0:198.51.100.1<0> [2]virbr0:192.168.122.1<0>");
  }
  finish(processes, "Socket", false);
  EXPECT_EQ(verdict_of(processes).transport, Transport::kSocket);
}

TEST(KnownCase, LibfabricIsOlderThanThePlugin) {
  auto processes = started("2.22.3", 2, 2);
  for (FakeProcess& process : processes) {
    process.info(
        "NET/Plugin: libfabric.so.1: version `FABRIC_1.7' not found (required by "
        "/opt/aws-ofi-nccl/lib/libnccl-net.so)");
    process.no_ib();
    process.socket();
  }
  finish(processes, "Socket", false);
  const JobVerdict verdict = verdict_of(processes);
  EXPECT_EQ(verdict.transport, Transport::kSocket);
  EXPECT_THAT(verdict.findings.front().cause, HasSubstr("libfabric that is loaded is older"));
}

TEST(KnownCase, ASingleNodeWithoutEfaIsNoneWhateverThePluginSays) {
  auto processes = started("2.19.3", 1, 8);
  for (FakeProcess& process : processes) {
    process.warn("NET/OFI Only EFA provider is supported");
    process.warn("NET/OFI aws-ofi-nccl initialization failed");
    process.no_ib();
    process.socket();
  }
  finish(processes, "Socket", false);
  EXPECT_EQ(verdict_of(processes).transport, Transport::kNone);
}

TEST(KnownCase, EnvironmentVariablesProveNothing) {
  auto processes = started("2.26.2", 2, 2);
  for (FakeProcess& process : processes) {
    process.info("NCCL_NET_GDR_LEVEL set by environment to PHB");
    process.info("NCCL_IB_HCA set to mlx5_0");
    process.raw("FI_PROVIDER=efa FI_EFA_USE_DEVICE_RDMA=1");
    process.no_plugin();
    process.no_ib();
    process.socket();
  }
  finish(processes, "Socket", false);
  const JobVerdict verdict = verdict_of(processes);
  EXPECT_EQ(verdict.transport, Transport::kSocket);
  EXPECT_THAT(verdict.environment.at("NCCL_NET_GDR_LEVEL"), ElementsAre("PHB"));
  EXPECT_THAT(verdict.environment.at("NCCL_IB_HCA"), ElementsAre("mlx5_0"));
}

TEST(KnownCase, GinAndTunerPluginsAreNotTheNetwork) {
  auto processes = started("2.30.7", 2, 2);
  for (FakeProcess& process : processes) {
    process.info("Successfully loaded external network plugin /opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so");
    process.info("TUNER/Plugin: Using nccl_ofi_tuner (v4)");
    process.info("Assigned GIN plugin Libfabric to comm");
    process.info("GIN/Plugin: Assigned plugin Libfabric type 2 to comm");
    process.warn("NET/OFI aws-ofi-nccl initialization failed");
    process.info("Failed to initialize NET plugin Libfabric");
    process.no_ib();
    process.socket();
    process.info("Initialized NET plugin Socket");
  }
  finish(processes, "Socket", false);
  EXPECT_EQ(verdict_of(processes).transport, Transport::kSocket);
}

TEST(KnownCase, ALogOfOtherSubsystemsShowsNothing) {
  const JobVerdict verdict = verdict_on(
      "node-0:1000:1700 [0] NCCL INFO Ring 00 : 15 -> 0 -> 1\n"
      "node-0:1000:1700 [0] NCCL INFO Trees [0] 1/8/-1->0->-1\n"
      "node-0:1000:1700 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f comm 0x55 [nranks=16] stream 0x55\n"
      "node-0:1000:1700 [0] NCCL INFO Connected all rings, use ring PXN 1 GDR 1\n");
  EXPECT_EQ(verdict.transport, Transport::kUnknown);
  EXPECT_THAT(verdict.findings.front().cause, HasSubstr("no line names a communicator"));
}

TEST(KnownCase, ConnectionsOfAnEfaWithoutGpuDirectOnAP4dAreAFault) {
  auto processes = started("2.18.5", 2, 2);
  for (FakeProcess& process : processes) {
    process.ofi("1.7.4-aws", "efa");
    process.info(
        "NET/OFI Running on p4d.24xlarge platform, Setting NCCL_TOPO_FILE environment variable to /x.xml");
  }
  finish(processes, "AWS Libfabric", false);
  const JobVerdict verdict = verdict_of(processes);
  EXPECT_EQ(verdict.transport, Transport::kEfa);
  EXPECT_EQ(verdict.gpu_direct, GpuDirect::kNo);
  EXPECT_THAT(verdict.platforms, ElementsAre("p4d.24xlarge"));
  EXPECT_THAT(verdict.findings.front().cause,
              HasSubstr("p4d.24xlarge has GPUDirect RDMA, but no connections use it"));
}

}  // namespace
}  // namespace lockstep::transport
