// Connected, but slow.
#include "lockstep/transport/efficiency.h"

#include <gmock/gmock.h>

namespace lockstep::transport {
namespace {

using testing::Contains;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using Kind = NetworkDevice::Kind;

constexpr Bandwidth kTenGigabytes{.ranks = 2, .bytes = 20'000'000'000, .seconds = 1};

JobVerdict over(Transport transport) {
  JobVerdict verdict;
  verdict.transport = transport;
  return verdict;
}

HostLinks efa_host(int num_devices) {
  HostLinks host{.host = "node-0"};
  for (int i = 0; i < num_devices; ++i) {
    host.devices.push_back(
        {.name = "rdmap" + std::to_string(i), .kind = Kind::kEfa, .line_rate = 12'500'000'000});
  }
  return host;
}

TEST(Efficiency, IsTheBusBandwidthOverTheSlowestHostsRate) {
  EXPECT_DOUBLE_EQ(kTenGigabytes.bus_bytes_per_s(), 1e10);
  const auto verdict = judge_efficiency(kTenGigabytes, over(Transport::kEfa), {efa_host(4), efa_host(2)}, 0);
  EXPECT_THAT(verdict.line_rate, Optional(25e9));
  EXPECT_THAT(verdict.share, Optional(DoubleNear(0.4, 1e-9)));
}

TEST(Efficiency, IsNotKnownWhereADeviceDoesNotSayItsRate) {
  HostLinks host = efa_host(2);
  host.devices[1].line_rate.reset();
  EXPECT_EQ(judge_efficiency(kTenGigabytes, over(Transport::kEfa), {efa_host(2), host}, 0).share,
            std::nullopt);
  EXPECT_EQ(judge_efficiency(kTenGigabytes, over(Transport::kEfa), {{.host = "x"}}, 0).share, std::nullopt);
}

TEST(Efficiency, OfTcpIsOfTheInterfacesInUse) {
  HostLinks host{.host = "node-0",
                 .devices = {{.name = "eth0", .line_rate = 3'125'000'000}, {.name = "eth1", .line_rate = 1}},
                 .interfaces = {"eth0"}};
  const auto verdict = judge_efficiency({2, 2'000'000'000, 1}, over(Transport::kSocket), {host}, 0);
  EXPECT_THAT(verdict.share, Optional(DoubleNear(0.32, 1e-9)));
  EXPECT_THAT(verdict.causes, Contains(HasSubstr("NCCL_NSOCKS_PERTHREAD")));
}

TEST(Efficiency, CausesAreNamedWhereItIsLow) {
  JobVerdict verdict = over(Transport::kEfa);
  EXPECT_TRUE(judge_efficiency(kTenGigabytes, verdict, {efa_host(1)}, 0).causes.empty());
  verdict.gpu_direct = GpuDirect::kNo;
  verdict.device_counts = {1, 4};
  HostLinks host = efa_host(4);
  for (NetworkDevice& device : host.devices) device.numa_node = 0;
  EXPECT_THAT(judge_efficiency(kTenGigabytes, verdict, {host}, 0).causes,
              ElementsAre(HasSubstr("no GPUDirect"), HasSubstr("1 of 4 devices of node-0"),
                          HasSubstr("NUMA node 0")));
}

TEST(Efficiency, InterfacesAreThoseOfNcclsLastWord) {
  EXPECT_THAT(
      socket_interfaces("h:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0> [1]ib0:fe80::1%ib0<0>\n"
                        "h:1:1 [0] NCCL INFO Using network Socket\n"),
      ElementsAre("eth0", "ib0"));
  EXPECT_TRUE(socket_interfaces("NCCL INFO Using network AWS Libfabric").empty());
}

}  // namespace
}  // namespace lockstep::transport
