// What the rules give where lines look like something that they are not.
#include "lockstep/transport/verdict.h"

#include <gmock/gmock.h>

#include "tests/transport/fake_job.h"
#include "tests/transport/log_files.h"

namespace lockstep::transport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Verdict, TheOldestRingLinesAreRead) {
  EXPECT_EQ(verdict_of(run({.nccl = "2.4.8", .net = "AWS Libfabric", .plugin = "1.1.2"})).transport,
            Transport::kEfa);
  EXPECT_EQ(
      verdict_of(run({.nccl = "2.4.8", .net = "Socket", .provider = "", .gpu_direct = false})).transport,
      Transport::kSocket);
}

TEST(Verdict, HpcxNamesAreVerbs) {
  for (const char* net : {"IBext", "IBext_v8", "IBext_v10"}) {
    EXPECT_EQ(summary(verdict_of(run({.net = net, .provider = "", .ib_devices = "[0]mlx5_0:1/IB/SHARP"}))),
              "ib connected yes")
        << net;
  }
}

TEST(Verdict, NamesThatAreNotKnownAreNeverAPass) {
  for (const char* net : {"gIB", "FasTrak", "UCX", "IBextra", "efa", "EFA", "IBext_v", "aws libfabric"}) {
    const JobVerdict verdict = verdict_of(run({.net = net, .ib_devices = "[0]mlx5_0:1/IB"}));
    EXPECT_EQ(verdict.transport, Transport::kUnknown) << net;
    EXPECT_THAT(verdict.networks, ElementsAre(net));
  }
}

TEST(Verdict, TwoHostsThatNameVerbsDifferentlyAreMixed) {
  auto processes = run({.nccl = "2.22.3", .net = "IB", .provider = "", .ib_devices = "[0]mlx5_0:1/IB"});
  const auto other =
      run({.nccl = "2.22.3", .net = "IBext_v8", .provider = "", .ib_devices = "[0]mlx5_0:1/IB"});
  processes[2] = other[2];
  processes[3] = other[3];
  EXPECT_EQ(verdict_of(processes).transport, Transport::kMixed);
}

TEST(Verdict, RanksOfOneHostThatDisagreeAreMixedToo) {
  auto processes = run({.hosts = 1, .ranks_per_host = 4, .connects = false});
  const auto failed =
      run({.hosts = 1, .ranks_per_host = 4, .net = "Socket", .provider = "", .connects = false});
  for (size_t rank = 1; rank < 4; ++rank) processes[rank] = failed[rank];
  EXPECT_EQ(verdict_of(processes).transport, Transport::kMixed);
}

TEST(Verdict, OneRankOnAnotherProviderIsMixed) {
  auto processes = run({});
  processes[3] = run({.provider = "tcp"})[3];
  EXPECT_EQ(verdict_of(processes).transport, Transport::kMixed);
}

TEST(Verdict, AProviderThatOneRankDoesNotNameIsUnknown) {
  auto lines = lines_by_process(run({}));
  std::erase_if(lines[3],
                [](const std::string& line) { return line.find("Selected provider") != line.npos; });
  EXPECT_EQ(verdict_on(interleaved(lines, 1)).transport, Transport::kUnknown);
}

TEST(Verdict, IbWithoutItsDevicesIsUnknown) {
  auto lines = lines_by_process(run({.net = "IB", .provider = "", .ib_devices = "[0]mlx5_0:1/IB"}));
  for (auto& rank : lines)
    std::erase_if(rank, [](const std::string& line) { return line.find("NET/IB : Using") != line.npos; });
  const JobVerdict verdict = verdict_on(interleaved(lines, 1));
  EXPECT_EQ(verdict.transport, Transport::kUnknown);
  EXPECT_THAT(verdict.reason, HasSubstr("link layer"));
}

TEST(Verdict, OfBothKindsOfDevicesThoseInUseCount) {
  const std::string devices = "[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE";
  EXPECT_EQ(verdict_of(run({.net = "IB", .provider = "", .ib_devices = devices})).transport, Transport::kIb);
  EXPECT_EQ(
      verdict_of(run({.net = "IB", .provider = "", .ib_devices = devices, .connects = false})).transport,
      Transport::kUnknown);
  const std::string merged = "[0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/RoCE} [1]mlx5_2:1/IB";
  EXPECT_EQ(verdict_of(run({.net = "IB", .provider = "", .ib_devices = merged})).transport,
            Transport::kMixed);
}

TEST(Verdict, AProviderSelectedBeforeThePluginFailedIsNotInUse) {
  FakeJob job{.net = "Socket", .gpu_direct = false};
  auto processes = job.processes();
  for (FakeProcess& process : processes) {
    process.warn("NET/OFI EFA provider requires at least libfabric version 1.22.0.");
    process.warn("NET/OFI aws-ofi-nccl initialization failed");
    process.no_ib();
    process.socket();
    process.network("Socket");
  }
  open_communicator(processes, world(processes), "Socket", false);
  const JobVerdict verdict = verdict_of(processes);
  EXPECT_EQ(summary(verdict), "socket connected no");
  EXPECT_THAT(verdict.providers, ElementsAre("efa"));
  EXPECT_THAT(verdict.findings.front().cause, HasSubstr("libfabric that is loaded is too old"));
}

TEST(Verdict, ASecondCommunicatorOverTcpMakesTheJobMixed) {
  for (const char* nccl : {"2.18.5", "2.21.5", "2.23.4", "2.28.9", "2.30.7"}) {
    auto processes = run({.nccl = nccl});
    for (FakeProcess& process : processes) process.network("Socket");
    FakeCommunicator second = world(processes);
    second.id = 0xc0ffee;
    open_communicator(processes, second, "Socket", false);
    const JobVerdict verdict = verdict_of(processes);
    EXPECT_EQ(verdict.transport, Transport::kMixed) << nccl;
    ASSERT_EQ(verdict.communicators.size(), 2u);
    EXPECT_THAT(verdict.networks, ElementsAre("Libfabric", "Socket"));
  }
}

TEST(Verdict, ASecondCommunicatorOverTcpIsNotHiddenByLostLines) {
  auto processes = run({});
  for (FakeProcess& process : processes) process.network("Socket");
  FakeCommunicator second = world(processes);
  second.id = 0xc0ffee;
  open_communicator(processes, second, "Socket", false);
  const std::vector<std::string> marks = {"c0ffee", "nNodes", "via NET/Socket", "Using network Socket",
                                          "plugin Socket"};
  // Whatever kinds of its lines are lost, as long as one is left that tells of it.
  for (unsigned lost = 0; lost + 1 < 1u << marks.size(); ++lost) {
    auto lines = lines_by_process(processes);
    for (auto& rank : lines) {
      std::erase_if(rank, [&](const std::string& line) {
        for (size_t i = 0; i < marks.size(); ++i) {
          if ((lost >> i & 1) != 0 && line.find(marks[i]) != line.npos) return true;
        }
        return false;
      });
    }
    const JobVerdict verdict = verdict_on(interleaved(lines, lost));
    const bool only_shapes_left = (lost & 0b11101) == 0b11101;
    if (!only_shapes_left) {
      EXPECT_NE(verdict.transport, Transport::kEfa) << lost << ": " << verdict.reason;
    }
  }
}

TEST(Verdict, OneProcessMayHoldSeveralRanks) {
  for (const char* nccl : {"2.18.5", "2.21.5", "2.23.4", "2.28.9"}) {
    std::vector<FakeProcess> processes;
    for (int host = 0; host < 2; ++host) {
      for (int device = 0; device < 4; ++device) {
        processes.emplace_back(nccl, "node-" + std::to_string(host), 1000, device,
                               "192.0.2.1" + std::to_string(host));
        FakeProcess& process = processes.back();
        if (device == 0) process.start();
        if (device == 0) process.ofi("1.17.2", "efa");
      }
    }
    for (FakeProcess& process : processes) process.network("Libfabric");
    open_communicator(processes, world(processes), "Libfabric");
    const JobVerdict verdict = verdict_of(processes);
    EXPECT_EQ(summary(verdict), "efa connected yes") << nccl << ": " << verdict.reason;
    // The threads of one process interleave; what the process says at its start comes first.
    auto lines = lines_by_process(processes);
    std::string text;
    for (size_t first : {size_t{0}, size_t{4}}) {
      for (size_t i = 0; i < 8; ++i) text += lines[first][i] + "\n";
      lines[first].erase(lines[first].begin(), lines[first].begin() + 8);
    }
    for (uint32_t seed = 0; seed < 10; ++seed)
      EXPECT_EQ(summary(verdict_on(text + interleaved(lines, seed))), "efa connected yes") << nccl;
  }
}

TEST(Verdict, SplitsAreJudgedByWhereTheirRanksAre) {
  for (const char* nccl : {"2.21.5", "2.23.4", "2.26.2", "2.29.7"}) {
    auto processes = run({.nccl = nccl, .hosts = 2, .ranks_per_host = 4, .connects = false});
    for (int group = 0; group < 2; ++group) {  // inside each host
      FakeCommunicator shard{.processes = {}, .split_of = 0, .color = group, .split_count = 1};
      for (int device = 0; device < 4; ++device) shard.processes.push_back(group * 4 + device);
      for (const int index : shard.processes) processes[static_cast<size_t>(index)].network("Libfabric");
      open_communicator(processes, shard, "Libfabric");
    }
    for (int device = 0; device < 4;
         ++device) {  // 0[3] -> 1[3] crosses hosts although its numbers look local
      FakeCommunicator replicate{
          .processes = {device, 4 + device}, .split_of = 0, .color = device, .split_count = 2};
      for (const int index : replicate.processes) processes[static_cast<size_t>(index)].network("Libfabric");
      open_communicator(processes, replicate, "Libfabric");
    }
    const JobVerdict verdict = verdict_of(processes);
    EXPECT_EQ(verdict.transport, Transport::kEfa) << nccl << ": " << verdict.reason;
    EXPECT_EQ(verdict.gpu_direct, GpuDirect::kYes);
    int local = 0, connected = 0;
    for (const CommunicatorVerdict& communicator : verdict.communicators) {
      local += communicator.transport == Transport::kNone ? 1 : 0;
      connected +=
          communicator.transport == Transport::kEfa && communicator.level == Level::kConnected ? 1 : 0;
    }
    EXPECT_EQ(verdict.communicators.size(), 7u) << nccl;
    EXPECT_EQ(local, 2) << nccl;
    EXPECT_EQ(connected, 4) << nccl;
  }
}

TEST(Verdict, HostsOfOneNameAreToldApartByTheirAddresses) {
  std::string text = text_of(run({}));
  for (size_t at; (at = text.find("node-1:")) != text.npos;) text.replace(at, 7, "node-0:");
  const JobVerdict verdict = verdict_on(text);
  EXPECT_EQ(summary(verdict), "efa connected yes") << verdict.reason;
  EXPECT_THAT(verdict.hosts, ElementsAre("node-0 (192.0.2.11)", "node-0 (192.0.2.12)"));
}

TEST(Verdict, HostsCalledLocalhostWithoutAddressesAreUnknownNotOne) {
  std::string text = text_of(run({.net = "Socket", .provider = "", .connects = false}));
  for (const char* host : {"node-0:", "node-1:"}) {
    for (size_t at; (at = text.find(host)) != text.npos;) text.replace(at, 7, "localhost:");
  }
  for (const char* address : {"eth0:192.0.2.11", "eth0:192.0.2.12"}) {
    for (size_t at; (at = text.find(address)) != text.npos;) text.replace(at, 15, "lo:127.0.0.1");
  }
  const JobVerdict verdict = verdict_on(text);
  EXPECT_EQ(verdict.transport, Transport::kUnknown) << verdict.reason;
}

TEST(Verdict, HostsThatCutLinesMadeUpAreNone) {
  auto processes = run({});
  processes[0].raw("other:1000:1700 [0] NCCL INFO x");  // fewer than three lines
  processes[0].raw("other:1000:1700 [0] NCCL INFO x");
  for (int i = 0; i < 5; ++i) {
    processes[0].raw("NCnode-0:1000:1700 [0] NCCL INFO x");  // ends like node-0, and no process of its own
    processes[0].raw("de-1:1100:1800 [0] NCCL INFO x");
  }
  EXPECT_THAT(verdict_of(processes).hosts, ElementsAre("node-0", "node-1"));
  for (int i = 0; i < 5; ++i) processes[0].raw("gpu-node-0:2000:1700 [0] NCCL INFO x");
  EXPECT_THAT(verdict_of(processes).hosts, ElementsAre("gpu-node-0", "node-0", "node-1"));
}

TEST(Verdict, NetworkLinesInsideOneHostAreNotBetweenHosts) {
  FakeJob job{.hosts = 1, .ranks_per_host = 2, .net = "Socket", .provider = ""};
  auto processes = job.processes();
  for (size_t rank = 0; rank < 2; ++rank) {
    FakeProcess& process = processes[rank];
    process.info("NCCL_P2P_DISABLE set by environment to 1");
    process.network("Socket");
    process.comm_start(world(processes), static_cast<int>(rank));
    process.comm_shape(world(processes), static_cast<int>(rank), 2);
    process.comm_complete(world(processes), static_cast<int>(rank));
    process.net_path(0, 1, 0, 1, rank == 0, "Socket", false);
    process.net_path(1, 0, 1, 0, rank == 1, "Socket", false);
  }
  EXPECT_EQ(summary(verdict_of(processes)), "none connected unknown");
}

TEST(Verdict, AnNvlinkDomainOverHostsIsNoneAndUnknownBeforeItIsSeen) {
  FakeJob job{.net = "IB", .provider = "", .ib_devices = "[0]mlx5_0:1/IB"};
  auto processes = job.processes();
  for (int rank = 0; rank < 4; ++rank) {
    FakeProcess& process = processes[static_cast<size_t>(rank)];
    process.network("IB");
    process.info(
        "MNNVL busId 0x1b000 fabric UUID 5f1c0b7e9a33d201.8c44e1a2b7f09d10 cliqueId 0x1 state 3 healthMask "
        "0x0");
    process.comm_start(world(processes), rank);
  }
  EXPECT_EQ(verdict_of(processes).transport, Transport::kUnknown);
  for (int rank = 0; rank < 4; ++rank) {
    FakeProcess& process = processes[static_cast<size_t>(rank)];
    process.comm_shape(world(processes), rank, 1, true);
    process.local_path(rank, (rank + 1) % 4, processes[static_cast<size_t>((rank + 1) % 4)].device(),
                       "P2P/MNNVL");
  }
  EXPECT_EQ(summary(verdict_of(processes)), "none connected unknown");
}

TEST(Verdict, ConnectionsAcrossHostsOfOneNodeContradictEachOther) {
  FakeJob job{.net = "IB", .provider = "", .ib_devices = "[0]mlx5_0:1/IB"};
  auto processes = job.processes();
  for (int rank = 0; rank < 4; ++rank) {
    FakeProcess& process = processes[static_cast<size_t>(rank)];
    process.network("IB");
    process.comm_start(world(processes), rank);
    process.comm_shape(world(processes), rank, 1, true);
  }
  processes[1].net_path(1, 2, 1, 0, true, "IB", true);
  EXPECT_EQ(verdict_of(processes).transport, Transport::kNone);  // one end alone
  processes[2].net_path(1, 2, 1, 0, false, "IB", true);
  EXPECT_EQ(verdict_of(processes).transport, Transport::kUnknown);
}

TEST(Verdict, GpusWithoutAnNvlinkDomainPrintItsLineToo) {
  FakeJob job{.connects = false};
  auto processes = job.processes();
  for (FakeProcess& process : processes) {
    process.info("MNNVL busId 0xe5000 fabric UUID 0.0 cliqueId 0x0 state 3 healthMask 0x0");
    process.network("Libfabric");
  }
  open_communicator(processes, world(processes), "Libfabric", true, false);
  EXPECT_EQ(verdict_of(processes).transport, Transport::kEfa);
}

TEST(Verdict, APairWithOneEndIsNotConnected) {
  auto lines = lines_by_process(run({}));
  std::erase_if(lines[2], [](const std::string& line) { return line.find("[receive]") != line.npos; });
  const JobVerdict verdict = verdict_on(interleaved(lines, 1));
  EXPECT_EQ(summary(verdict), "efa selected yes");
  ASSERT_EQ(verdict.communicators[0].pairs.size(), 2u);
  EXPECT_EQ(verdict.communicators[0].pairs[1].level, Level::kSelected);
}

TEST(Verdict, AHostThatNobodyConnectedToKeepsItAtSelected) {
  auto processes = run({.hosts = 3, .ranks_per_host = 1, .connects = false});
  processes[0].net_path(0, 1, 0, 0, true, "Libfabric", true);
  processes[1].net_path(0, 1, 0, 0, false, "Libfabric", true);
  EXPECT_EQ(summary(verdict_of(processes)), "efa selected yes");
}

TEST(Verdict, SomeChannelsWithoutGpuDirectMakeItUnknown) {
  auto processes = run({});
  processes[1].net_path(1, 2, 1, 0, true, "Libfabric", false);
  EXPECT_EQ(verdict_of(processes).gpu_direct, GpuDirect::kUnknown);
}

TEST(Verdict, CollNetOverSharpGoesWithIbAndNothingElse) {
  for (const auto& [name, transport] :
       {std::pair("SHARP", Transport::kIb), std::pair("Other", Transport::kUnknown)}) {
    auto processes = run({.net = "IB", .provider = "", .ib_devices = "[0]mlx5_0:1/IB"});
    for (int rank = 0; rank < 4; ++rank)
      processes[static_cast<size_t>(rank)].info("CollNet 00/0 : " + std::to_string(rank) +
                                                " [send] via COLLNET/" + name + "/0/GDRDMA");
    EXPECT_EQ(verdict_of(processes).transport, transport) << name;
  }
}

TEST(Verdict, EachAttemptOfARestartedJobCounts) {
  const std::string first = text_of(run({.net = "Socket", .provider = "", .gpu_direct = false}));
  std::string second = text_of(run({}));
  for (const char* pid : {":10", ":11"}) {
    const std::string other = pid == std::string(":10") ? ":20" : ":21";
    for (size_t at; (at = second.find(pid)) != second.npos;) second.replace(at, 3, other);
  }
  for (size_t at; (at = second.find("0x7a31")) != second.npos;) second.replace(at, 6, "0x8a31");
  EXPECT_EQ(verdict_on(second).transport, Transport::kEfa);
  EXPECT_EQ(verdict_on(first + second).transport, Transport::kMixed);
}

TEST(Verdict, ErrorsAfterwardsDoNotChangeTheTransport) {
  auto processes = run({.nccl = "2.19.3", .plugin = "1.7.4-aws", .connects = false});
  for (FakeProcess& process : processes) {
    process.warn(
        "NET/OFI Unable to register memory (type = 2) for device 0. RC: -22, Error: Invalid argument");
    process.info("transport/net.cc:843 -> 2");
  }
  const JobVerdict verdict = verdict_of(processes);
  EXPECT_EQ(verdict.transport, Transport::kEfa);
  EXPECT_THAT(verdict.findings.front().fix, HasSubstr("FI_EFA_SET_CUDA_SYNC_MEMOPS=0"));
  EXPECT_EQ(verdict.warnings.size(), 1u);
}

TEST(Verdict, OldRotatedLogsWithPathsAloneCanOnlyShowARefusal) {
  const auto paths_of = [](const FakeJob& job) {
    auto lines = lines_by_process(run(job));
    for (auto& rank : lines)
      std::erase_if(rank, [](const std::string& line) { return line.find(" via ") == line.npos; });
    // Hosts on fewer than three lines do not count.
    for (auto& rank : lines) rank.insert(rank.end(), 2, rank.back());
    return verdict_on(interleaved(lines, 3));
  };
  EXPECT_EQ(paths_of({}).transport, Transport::kUnknown);
  EXPECT_EQ(paths_of({.net = "Socket", .provider = "", .gpu_direct = false}).transport, Transport::kSocket);
}

TEST(Verdict, OfNothingIsUnknown) {
  const JobVerdict verdict = verdict_on("");
  EXPECT_EQ(summary(verdict), "unknown nothing unknown");
  EXPECT_THAT(verdict.findings.front().cause, HasSubstr("no lines of NCCL's INFO level"));
  EXPECT_THAT(verdict.proof, IsEmpty());
}

TEST(Verdict, ItsProofIsALineOfTheLog) {
  const JobVerdict verdict = verdict_of(run({.net = "Socket", .provider = "", .gpu_direct = false}));
  ASSERT_EQ(verdict.proof.size(), 1u);
  const auto lines = lines_of(text_of(run({.net = "Socket", .provider = "", .gpu_direct = false})));
  EXPECT_EQ(lines[verdict.proof[0].line - 1], verdict.proof[0].text);
  EXPECT_THAT(verdict.proof[0].text, HasSubstr("via NET/Socket/0"));
}

TEST(Verdict, DifferentVersionsOnTwoHostsAreFound) {
  auto processes = run({});
  const auto other = run({.nccl = "2.29.7", .plugin = "1.19.0"});
  processes[2] = other[2];
  processes[3] = other[3];
  const JobVerdict verdict = verdict_of(processes);
  EXPECT_THAT(verdict.nccl_versions, ElementsAre("2.28.9+cuda12.4", "2.29.7+cuda12.4"));
  EXPECT_THAT(verdict.plugin_versions, ElementsAre("1.17.2", "1.19.0"));
  EXPECT_THAT(verdict.findings.front().cause, HasSubstr("different versions of NCCL"));
}

TEST(Verdict, DifferentWordsForAMissingPluginAreDifferentVersions) {
  FakeJob job{.nccl = "2.20.5", .net = "Socket", .provider = "", .gpu_direct = false};
  auto processes = run(job);
  job.nccl = "2.21.5";
  auto other = run(job);
  processes[2] = other[2];
  processes[3] = other[3];
  std::string text = text_of(processes);
  for (size_t at; (at = text.find("NCCL version ")) != text.npos;)
    text.erase(at, text.find('\n', at) + 1 - at);
  bool found = false;
  for (const Finding& finding : verdict_on(text).findings)
    found = found || finding.cause.find("up to 2.20, 2.21") != finding.cause.npos;
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace lockstep::transport
