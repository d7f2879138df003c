// Single lines, as they stand in logs.
#include <gmock/gmock.h>

#include "lockstep/transport/clue.h"
#include "lockstep/transport/comm_line.h"
#include "lockstep/transport/host_address.h"
#include "lockstep/transport/ib_devices.h"
#include "lockstep/transport/line_splitter.h"
#include "lockstep/transport/log_record.h"
#include "lockstep/transport/net_line.h"
#include "lockstep/transport/path_line.h"

namespace lockstep::transport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// "host|pid|node|repeats|text", with W before a warning.
std::string record(const std::string& line) {
  std::string scratch;
  const auto found = parse_log_record(line, scratch);
  if (!found) return "none";
  return (found->kind == LogRecord::Kind::kWarning ? "W " : "") + std::string(found->host) + "|" +
         std::to_string(found->pid) + "|" + std::string(found->node) + "|" + std::to_string(found->repeats) +
         "|" + std::string(found->text);
}

TEST(LogRecord, IsFoundAnywhereInTheLine) {
  const std::string plain = "node-0:1000:1700 [3] NCCL INFO Using network Socket";
  const std::string expected = "node-0|1000||1|Using network Socket";
  EXPECT_EQ(record(plain), expected);
  EXPECT_EQ(record("[1,15]<stdout>:" + plain), expected);
  EXPECT_EQ(record("3: " + plain + " \r"), expected);
  EXPECT_EQ(record("\x1b[36m(x)\x1b[0m " + plain), expected);
  EXPECT_EQ(record("{\"log\":\"" + plain + "\\n\",\"stream\":\"stdout\"}"), expected);
  EXPECT_EQ(record("node-0:1000:1700 [-1] NCCL INFO Using network Socket"), expected);
}

TEST(LogRecord, NodesOfCollectorsAreKept) {
  EXPECT_EQ(record("(RayTrainWorker pid=950, ip=192.0.2.12) h:950:2 [0] NCCL INFO x [repeated 15x across "
                   "cluster] (Ray "
                   "deduplicates logs by default.)"),
            "h|950|192.0.2.12|15|x");
  EXPECT_EQ(record("(EngineCore_DP0 pid=7) (RayWorkerWrapper pid=9, ip=192.0.2.13) h:9:2 [0] NCCL INFO x"),
            "h|9|192.0.2.13|1|x");
  EXPECT_EQ(record("(pid=9, ip=192.0.2.13) h:9:2 [0] NCCL INFO x"), "h|9|192.0.2.13|1|x");
  EXPECT_EQ(record("[pod/train-0/worker] 2026-02-03T10:00:00Z h:1:2 [0] NCCL INFO x"), "h|1|train-0|1|x");
  // Pieces of other lines are no node of this one.
  EXPECT_EQ(record("(RayTrainWorker pid=1, ip=192.0.2.(RayTrainWorker pid=9) h:9:2 [0] NCCL INFO x"),
            "h|9||1|x");
  EXPECT_EQ(record("(RayTrainWorker pid=1, ip=192.0.2.12) h:9:2 [0] NCCL INFO x"), "h|9||1|x");
}

TEST(LogRecord, WarningsHaveAPlaceOfAnyForm) {
  EXPECT_EQ(record("[2026-02-03 10:00:00] node-1:1138:1139 [1] plugin/net.cc:379 NCCL WARN Failed"),
            "W node-1|1138||1|Failed");
  EXPECT_EQ(record("node-1:1138:1139 [1] nccl_net_ofi_create_plugin:341 NCCL WARN NET/OFI x"),
            "W node-1|1138||1|NET/OFI x");
  EXPECT_EQ(record("node-1:1138:1139 [1] int f(std::vector<int>&, char [5]):12 (f) NCCL WARN NET/OFI x"),
            "W node-1|1138||1|NET/OFI x");
}

TEST(LogRecord, OfGluedOnesTheLastCounts) {
  EXPECT_EQ(record("node-0:1:1 [0] NCCL INFO Using netnode-1:2:2 [0] NCCL INFO Using network Socket"),
            "netnode-1|2||1|Using network Socket");
  EXPECT_EQ(record("node-0:1:1 [0] NCCL Inode-1:2:2 [0] NCCL INFO y"), "Inode-1|2||1|y");
}

TEST(LogRecord, WhatIsNoneIsNone) {
  for (const char* line : {"", "step 1 loss 2.5", "NCCL INFO x", "a:b:c [0] NCCL INFO x",
                           "h:1:2 [x] NCCL INFO x", "h:1:2[0] NCCL INFO x", ":1:2 [0] NCCL INFO x",
                           "h:99999999999:2 [0] NCCL INFO x", "RuntimeError: NCCL error in: init.cc:1",
                           "(RayTrainWorker pid=946) 6/0 : 10[2] -> 11[3] via P2P/CUMEM"}) {
    EXPECT_EQ(record(line), "none") << line;
  }
  EXPECT_EQ(record("(RayTrainWorker pid=2100) NCCL version 2.20.5+cuda12.4"),
            "|0||1|NCCL version 2.20.5+cuda12.4");
}

// "own>peer net device gdr", or the medium.
std::string path(const std::string& text) {
  const auto found = parse_path_line(text);
  if (!found) return "none";
  const std::string ranks =
      std::to_string(found->own_rank) + (found->is_sender ? ">" : "<") + std::to_string(found->peer_rank);
  switch (found->medium) {
    case PathLine::Medium::kNet:
    case PathLine::Medium::kCollNet:
      return ranks + " " + std::string(found->net) + " " + std::to_string(found->net_device) +
             (found->gpu_direct ? " gdr" : "");
    case PathLine::Medium::kP2p:
      return ranks + " p2p";
    case PathLine::Medium::kMnnvl:
      return ranks + " mnnvl";
    case PathLine::Medium::kShm:
      return ranks + " shm";
  }
  return "";
}

TEST(PathLine, OfEveryVersionIsRead) {
  EXPECT_EQ(path("Channel 00/0 : 7[7] -> 8[0] [send] via NET/Socket/0"), "7>8 Socket 0");
  EXPECT_EQ(path("Channel 00/0 : 7[7] -> 8[0] [receive] via NET/AWS Libfabric/12/GDRDMA"),
            "8<7 AWS Libfabric 12 gdr");
  EXPECT_EQ(path("Channel 03/0 : 10[2] -> 3[3] [send] via NET/AWS Libfabric/1(3)/GDRDMA"),
            "10>3 AWS Libfabric 1 gdr");
  EXPECT_EQ(path("Channel 00/1 : 0[0] -> 1[1] [send] via NET/IB/0(1)/GDRDMA(PCI)/Shared"), "0>1 IB 0 gdr");
  EXPECT_EQ(path("Channel 00/1 : 0[0] -> 1[1] [send] via NET/IBext_v8/0/Shared"), "0>1 IBext_v8 0");
  EXPECT_EQ(path("Channel 01 : 9[101d0] -> 0[101c0] [receive] via NET/AWS Libfabric/0"),
            "0<9 AWS Libfabric 0");
  EXPECT_EQ(path("Ring 00 : 7 -> 8 [receive] via NET/AWS Libfabric/0"), "8<7 AWS Libfabric 0");
  EXPECT_EQ(path("Ring 01 : 9[0] -> 10[0] via direct shared memory"), "9>10 shm");
  EXPECT_EQ(path("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read"), "0>1 p2p");
  EXPECT_EQ(path("Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer"), "0>1 p2p");
  EXPECT_EQ(path("Channel 00/0 : 0[0] -> 1[1] via P2P/indirect/4[4]"), "0>1 p2p");
  EXPECT_EQ(path("Channel 00/0 : 0[0] -> 1[1] via P2P/MNNVL"), "0>1 mnnvl");
  EXPECT_EQ(path("Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"), "0>1 shm");
  EXPECT_EQ(path("Channel 00 : 0[0] -> 1[1] via SHM/direct"), "0>1 shm");
  EXPECT_EQ(path("CollNet 00/0 : 3 [receive] via COLLNET/SHARP/0/GDRDMA"), "3<3 SHARP 0 gdr");
  EXPECT_EQ(path("Channel 00/0 : 7[d000] -> 8[d000] [send] via NET/IB/0 comm 0x55aa nRanks 16"), "7>8 IB 0");
}

TEST(PathLine, ThatIsCutOrGluedIsNone) {
  const std::string whole = "Channel 00/0 : 7[7] -> 8[0] [send] via NET/Libfabric/1/GDRDMA";
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    const bool ends_like_one = cut.ends_with("/1") || cut.ends_with("/GDRDMA");
    EXPECT_EQ(path(cut), ends_like_one ? "7>8 Libfabric 1" : "none") << cut;
  }
  for (const char* text :
       {"Channel 00/16 :    0   7   6", "Channel 00/24 : 0 1",
        "Channel 00/0 : 3[1] -> 2[0] via P2P/CUMENFO NET/OFI", "Channel 00/0 : 7[7] -> 8[0] via NET/Socket/0",
        "Channel 00/0 : 7[7] -> 8[0] [send] via P2P/CUMEM",
        "Channel 00/0 : 7[7] -> 8[0] [send] via NET/via NET/Socket/0",
        "Channel 00/0 : 0[0] -> 1[1] via SHM/x"}) {
    EXPECT_EQ(path(text), "none") << text;
  }
}

TEST(CommLine, OfEveryVersionIsRead) {
  const auto old = parse_comm_line("comm 0x7f rank 3 nranks 16 cudaDev 3 busId 101d0 - Init COMPLETE");
  ASSERT_TRUE(old);
  EXPECT_EQ(old->event, CommLine::Event::kComplete);
  EXPECT_EQ(old->bus_id, 0x101d0u);
  EXPECT_FALSE(old->comm_id);
  const auto ranked = parse_comm_line(
      "[Rank 5] ncclCommInitRankConfig comm 0x562b rank 5 nranks 8 cudaDev 1 nvmlDev 1 busId 33000 commId "
      "0x7a31c0de55aa10f1 - Init START");
  ASSERT_TRUE(ranked);
  EXPECT_EQ(ranked->comm_id, 0x7a31c0de55aa10f1u);
  EXPECT_EQ(ranked->nvml_device, 1u);
  const auto split = parse_comm_line(
      "ncclCommSplit comm 0x56 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 53000 parent 0x55 childCount 2 "
      "color -7 key -1- Init START");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->parent, 0x55u);
  EXPECT_EQ(split->split_count, 2u);
  EXPECT_EQ(split->color, -7);
  const auto shape = parse_comm_line("comm 0x56 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 1");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->num_nodes, 2u);
  EXPECT_TRUE(shape->is_mnnvl);
  EXPECT_EQ(parse_comm_line("comm 0x56 rank 0 nranks 8 cudaDev 0 busId 1b000 - Abort COMPLETE")->event,
            CommLine::Event::kEnd);
}

TEST(CommLine, ThatIsCutIsNone) {
  const std::string start =
      "ncclCommInitRank comm 0x56 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7a31 - Init START";
  for (size_t size = 0; size < start.size(); ++size)
    EXPECT_FALSE(parse_comm_line(start.substr(0, size))) << size;
  const std::string shape = "comm 0x56 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0";
  for (size_t size = 0; size < shape.size(); ++size)
    EXPECT_FALSE(parse_comm_line(shape.substr(0, size))) << size;
  EXPECT_FALSE(parse_comm_line("comm 0x56 rank 8 nranks 8 cudaDev 0 - Init COMPLETE"));
  EXPECT_FALSE(parse_comm_line("comm 0x56 rank 0 nranks 99999999 cudaDev 0 - Init COMPLETE"));
}

TEST(NetLine, NetworksAreNamedByTwoLines) {
  EXPECT_EQ(parse_network("Using network AWS Libfabric"), "AWS Libfabric");
  EXPECT_EQ(parse_network("Assigned NET plugin Libfabric to comm"), "Libfabric");
  for (const char* text : {"Using network ", "Using network a/b", "Using non-device net plugin version 0",
                           "Using Libfabric", "Assigned NET plugin Libfabric",
                           "Assigned GIN plugin Libfabric to comm", "Initialized NET plugin IB"}) {
    EXPECT_FALSE(parse_network(text)) << text;
  }
}

TEST(NetLine, ProvidersOfEveryPluginAreRead) {
  EXPECT_EQ(parse_provider("NET/OFI Selected Provider is efa")->provider, "efa");
  EXPECT_FALSE(parse_provider("NET/OFI Selected Provider is efa")->is_whole);
  EXPECT_EQ(parse_provider("NET/OFI Selected Provider is tcp;ofi_rxm (found 1 nics)")->provider,
            "tcp;ofi_rxm");
  const auto provider =
      parse_provider("NET/OFI Selected provider is efa, fabric is efa-direct (found 32 nics)");
  EXPECT_EQ(provider->provider, "efa");
  EXPECT_EQ(provider->fabric, "efa-direct");
  EXPECT_EQ(provider->num_nics, 32u);
  EXPECT_TRUE(provider->is_whole);
  EXPECT_TRUE(parse_provider("NET/OFI Selected provider is efa, fab")->is_whole);
  EXPECT_FALSE(parse_provider("NET/OFI Selected provider is "));
  EXPECT_FALSE(parse_provider("NET/OFI Selected provider is efa)"));
}

TEST(NetLine, VersionsHaveTheFormOfVersions) {
  EXPECT_EQ(parse_version("NCCL version 2.21.5+cuda12.4")->version, "2.21.5+cuda12.4");
  EXPECT_EQ(parse_version("NET/OFI Initializing aws-ofi-nccl 1.13.2-aws")->version, "1.13.2-aws");
  EXPECT_EQ(parse_version("NET/OFI Using aws-ofi-nccl 1.6.0")->library, Library::kPlugin);
  EXPECT_EQ(parse_version("NET/OFI Using Libfabric version 2.1")->library, Library::kLibfabric);
  EXPECT_FALSE(parse_version("NET/OFI Using Libfabric version 2r_filter to efa"));
  EXPECT_FALSE(parse_version("NCCL version 2."));
}

TEST(IbDevices, TellLinkLayersByIndex) {
  const auto devices = IbDevices::parse(
      "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE/SHARP [2]mlx5_2:1:3:0/IB [RO]; OOB eth0:1.2.3.4<0>");
  ASSERT_TRUE(devices);
  EXPECT_EQ(devices->of(0), kInfiniBand);
  EXPECT_EQ(devices->of(1), kEthernet);
  EXPECT_EQ(devices->of(2), kInfiniBand);
  EXPECT_EQ(devices->of(7), kInfiniBand | kEthernet);
  const auto merged = IbDevices::parse(
      "NET/IB : Using [0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB} [1]mlx5_2:1/RoCE ; OOB eth0:1.2.3.4<0>");
  EXPECT_EQ(merged->of(0), kInfiniBand);
  EXPECT_EQ(merged->of(1), kEthernet);
}

TEST(IbDevices, TheDecoyIsEmptyAndACutEntryIsLeftOut) {
  EXPECT_TRUE(IbDevices::parse("NET/IB : Using [RO]; OOB eth0:192.0.2.11<0>")->empty());
  EXPECT_TRUE(IbDevices::parse("NET/IB : Using ; OOB eth0:192.0.2.11<0>")->empty());
  EXPECT_EQ(IbDevices::parse("NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/Ro")->all(), kInfiniBand);
  EXPECT_TRUE(IbDevices::parse("NET/IB : Using [0]mlx5_0:1/IB")->empty());
  EXPECT_FALSE(IbDevices::parse("NET/IB : No device found."));
}

TEST(HostAddress, IsTheFirstOfBootstrapAndOutOfBandLines) {
  EXPECT_EQ(parse_host_address("Bootstrap : Using eth0:192.0.2.11<0>")->ip, "192.0.2.11");
  EXPECT_EQ(parse_host_address("Bootstrap: Using ens5:fe80::1<0>")->ip, "fe80::1");
  EXPECT_EQ(parse_host_address("Bootstrap : Using [0]eth0:192.0.2.11<0> [1]eth1:192.0.3.11<0>")->interface,
            "eth0");
  EXPECT_EQ(parse_host_address("NET/Socket : Using [0]eth0:192.0.2.11<0> [1]ib0:1.1.1.1<0>")->interface,
            "eth0");
  EXPECT_EQ(parse_host_address("NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB bond0:192.0.2.11<0>")->interface,
            "bond0");
  EXPECT_FALSE(parse_host_address("Bootstrap: Using rdmap0s1:1"));
  EXPECT_FALSE(parse_host_address("Bootstrap timings total 0.1"));
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_FALSE(is_loopback("192.0.2.1"));
}

std::string cause(std::string_view text) {
  const int clue = find_clue(text);
  return clue < 0 ? "" : std::string(clues()[static_cast<size_t>(clue)].cause);
}

TEST(Clue, AMissingPluginIsToldFromAMissingLibraryOfThePlugin) {
  for (const char* text :
       {"NET/Plugin: Could not find: libnccl-net.so", "NET/Plugin: Could not find: ofi libnccl-net-ofi.so",
        "NET/Plugin : Plugin load (libnccl-net.so) returned 2 : libnccl-net.so: cannot open shared object "
        "file: No such file",
        "NET/Plugin : dlerror=libnccl-net.so: cannot open shared object file: No such file or directory No "
        "plugin found "
        "(libnccl-net.so), using internal implementation"}) {
    EXPECT_EQ(cause(text), "NCCL finds no network plugin") << text;
  }
  for (const char* text : {"NET/Plugin: libnccl-net-ofi.so: libefa.so.1: cannot open shared object file: No "
                           "such file or directory",
                           "NET/Plugin : Plugin load returned 2 : libfabric.so.1: cannot open shared object "
                           "file: No such file or directory."}) {
    EXPECT_THAT(cause(text), HasSubstr("a library that it needs is not")) << text;
  }
  EXPECT_THAT(cause("NET/Plugin: /lib/libfabric.so.1: version `FABRIC_1.7' not found (required by "
                    "/opt/libnccl-net.so)"),
              HasSubstr("libfabric that is loaded is older"));
  EXPECT_THAT(cause("NET/Plugin: Failed to find ncclNetPlugin symbol (>= v5). ncclNetPlugin symbols v4 and "
                    "lower are not supported."),
              HasSubstr("too old for this NCCL"));
}

TEST(Clue, HarmlessLinesAreNone) {
  for (const char* text :
       {"NET/Plugin: Failed to find ncclCollNetPlugin_v8 symbol.",
        "NET/Plugin: Failed to find ncclCollNetPlugin symbol (>= v5). ncclCollNetPlugin symbols v4 and lower "
        "are not supported.",
        "NET/Plugin: Loaded net plugin Libfabric (v10)", "NET/OFI Internode latency set at 75.0 us",
        "NET/IB : No device found.", "NCCL_SOCKET_IFNAME set by environment to eth0"}) {
    EXPECT_EQ(cause(text), "") << text;
  }
}

TEST(LineSplitter, GivesWholeLinesOnlyAndTheEndOfEndlessOnes) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  const auto take = [&](std::string_view line) { lines.emplace_back(line); };
  splitter.feed("one\ntw", take);
  splitter.feed("o\n\nthree", take);
  EXPECT_THAT(lines, ElementsAre("one", "two", ""));
  EXPECT_TRUE(splitter.cut());
  splitter.feed("\n", take);
  EXPECT_FALSE(splitter.cut());
  lines.clear();
  for (int i = 0; i < 100; ++i) splitter.feed(std::string(10000, 'x'), take);
  splitter.feed("end\n", take);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].size(), kMaxLineBytes);
  EXPECT_TRUE(lines[0].ends_with("xend"));
}

}  // namespace
}  // namespace lockstep::transport
