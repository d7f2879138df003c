// Every version of NCCL and of the plugin is read by its own words.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/transport/fake_job.h"
#include "tests/transport/log_files.h"

namespace lockstep::transport {
namespace {

using testing::ElementsAre;

class EveryVersion : public testing::TestWithParam<const char*> {};

TEST_P(EveryVersion, OfEfaIsEfa) {
  const JobVerdict verdict = verdict_of(run({.nccl = GetParam()}));
  EXPECT_EQ(summary(verdict), "efa connected yes") << verdict.reason;
  EXPECT_EQ(verdict.num_ranks, 4u);
  EXPECT_THAT(verdict.nccl_versions, ElementsAre(std::string(GetParam()) + "+cuda12.4"));
}

TEST_P(EveryVersion, OfTheSilentFallbackIsSocketWithItsCause) {
  const JobVerdict verdict =
      verdict_of(run({.nccl = GetParam(), .net = "Socket", .provider = "", .gpu_direct = false}));
  EXPECT_EQ(summary(verdict), "socket connected no") << verdict.reason;
  ASSERT_FALSE(verdict.findings.empty());
  EXPECT_EQ(verdict.findings.front().cause, "NCCL finds no network plugin");
}

TEST_P(EveryVersion, OfInfiniBandIsIb) {
  const JobVerdict verdict = verdict_of(
      run({.nccl = GetParam(), .net = "IB", .provider = "", .ib_devices = "[0]mlx5_0:1/IB [1]mlx5_1:1/IB"}));
  EXPECT_EQ(summary(verdict), "ib connected yes") << verdict.reason;
}

TEST_P(EveryVersion, OfRoceIsRoce) {
  const JobVerdict verdict = verdict_of(run({.nccl = GetParam(),
                                             .net = "IB",
                                             .provider = "",
                                             .ib_devices = "[0]mlx5_0:1/RoCE",
                                             .gpu_direct = false}));
  EXPECT_EQ(summary(verdict), "roce connected no") << verdict.reason;
}

TEST_P(EveryVersion, OfTcpInsideLibfabricIsOfiTcp) {
  for (const char* provider : {"tcp", "tcp;ofi_rxm", "sockets", "net"}) {
    const JobVerdict verdict =
        verdict_of(run({.nccl = GetParam(), .provider = provider, .gpu_direct = false}));
    EXPECT_EQ(summary(verdict), "ofi-tcp connected no") << provider << ": " << verdict.reason;
  }
}

TEST_P(EveryVersion, OnOneHostIsNone) {
  const JobVerdict verdict =
      verdict_of(run({.nccl = GetParam(), .hosts = 1, .ranks_per_host = 4, .net = "Socket", .provider = ""}));
  EXPECT_EQ(summary(verdict), "none connected unknown") << verdict.reason;
}

TEST_P(EveryVersion, WithoutTheRanksOfOneHostIsUnknown) {
  auto processes = run({.nccl = GetParam()});
  processes.erase(processes.begin() + 2, processes.end());
  EXPECT_EQ(summary(verdict_of(processes)), "unknown nothing unknown");
}

TEST_P(EveryVersion, WithThePluginOnOneHostOnlyIsMixed) {
  auto with = run({.nccl = GetParam()});
  const auto without = run({.nccl = GetParam(), .net = "Socket", .provider = "", .gpu_direct = false});
  with[2] = without[2];
  with[3] = without[3];
  const JobVerdict verdict = verdict_of(with);
  EXPECT_EQ(verdict.transport, Transport::kMixed) << verdict.reason;
  EXPECT_EQ(verdict.gpu_direct, GpuDirect::kUnknown);
}

TEST_P(EveryVersion, ThatDidNotConnectYetIsOnlySelected) {
  // Before 2.6 nothing names the network before it connects.
  const JobVerdict verdict = verdict_of(run({.nccl = GetParam(), .connects = false}));
  EXPECT_EQ(summary(verdict), "efa selected unknown") << verdict.reason;
}

TEST_P(EveryVersion, InAnyOrderOfItsRanksGivesTheSame) {
  const auto lines = lines_by_process(run({.nccl = GetParam(), .hosts = 3, .ranks_per_host = 3}));
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const JobVerdict verdict = verdict_on(interleaved(lines, seed));
    EXPECT_EQ(summary(verdict), "efa connected yes") << verdict.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(Nccl, EveryVersion,
                         testing::Values("2.7.8", "2.10.3", "2.14.3", "2.18.1", "2.18.5", "2.19.3", "2.20.5",
                                         "2.21.5", "2.22.3", "2.23.4", "2.24.3", "2.25.1", "2.26.2", "2.27.7",
                                         "2.28.3", "2.28.9", "2.29.7", "2.30.7"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

class EveryPlugin : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(EveryPlugin, IsReadByItsOwnWords) {
  const auto& [plugin, net] = GetParam();
  EXPECT_EQ(summary(verdict_of(run({.net = net, .plugin = plugin}))), "efa connected yes") << plugin;
  EXPECT_EQ(summary(verdict_of(run({.net = net, .plugin = plugin, .provider = "verbs"}))),
            "unknown nothing yes")
      << plugin;
  EXPECT_EQ(summary(verdict_of(run({.net = net, .plugin = plugin, .provider = "efa;ofi_rxd"}))),
            "unknown nothing yes");
}

INSTANTIATE_TEST_SUITE_P(
    Ofi, EveryPlugin,
    testing::Values(std::pair("1.4.0", "AWS Libfabric"), std::pair("1.6.0", "AWS Libfabric"),
                    std::pair("1.7.4-aws", "AWS Libfabric"), std::pair("1.12.1-aws", "AWS Libfabric"),
                    std::pair("1.13.2-aws", "Libfabric"), std::pair("1.13.2-aws", "OFI"),
                    std::pair("1.14.2", "Libfabric"), std::pair("1.17.2", "AWS Libfabric"),
                    std::pair("1.21.1", "Libfabric")));

}  // namespace
}  // namespace lockstep::transport
