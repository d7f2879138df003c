// Ray merges the lines of its workers: what it leaves out is evidence lost.
#include <gmock/gmock.h>

#include "tests/transport/fake_job.h"
#include "tests/transport/log_files.h"
#include "tests/transport/ray_dedup.h"

namespace lockstep::transport {
namespace {

using testing::ElementsAre;

constexpr size_t kWindows[] = {50, 200, 100000};

TEST(RayDedup, OfOneNetworkOnAllRanksIsThatNetworkByItsCounts) {
  const FakeJob efa{.hosts = 2, .ranks_per_host = 8};
  const FakeJob socket{.hosts = 2, .ranks_per_host = 8, .net = "Socket", .provider = "", .gpu_direct = false};
  const FakeJob ib{
      .hosts = 2, .ranks_per_host = 8, .net = "IB", .provider = "", .ib_devices = "[0]mlx5_0:1/IB"};
  for (const size_t window : kWindows) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const JobVerdict verdict = verdict_on(ray_deduplicated(run(efa), seed, window));
      EXPECT_EQ(verdict.transport, Transport::kEfa) << verdict.reason;
      EXPECT_EQ(verdict_on(ray_deduplicated(run(socket), seed, window)).transport, Transport::kSocket);
      EXPECT_EQ(verdict_on(ray_deduplicated(run(ib), seed, window)).transport, Transport::kIb);
    }
  }
}

TEST(RayDedup, OfHostsThatDifferIsMixed) {
  auto processes = run({.hosts = 2, .ranks_per_host = 8});
  const auto other =
      run({.hosts = 2, .ranks_per_host = 8, .net = "Socket", .provider = "", .gpu_direct = false});
  for (size_t i = 8; i < 16; ++i) processes[i] = other[i];
  for (const size_t window : kWindows) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const JobVerdict verdict = verdict_on(ray_deduplicated(processes, seed, window));
      EXPECT_EQ(verdict.transport, Transport::kMixed) << verdict.reason;
      EXPECT_THAT(verdict.networks, ElementsAre("Libfabric", "Socket"));
    }
  }
}

TEST(RayDedup, OfOneRankOnAnotherProviderIsNoPass) {
  auto processes = run({.hosts = 2, .ranks_per_host = 8});
  processes[11] = run({.hosts = 2, .ranks_per_host = 8, .provider = "tcp"})[11];
  for (const size_t window : kWindows) {
    for (uint32_t seed = 0; seed < 20; ++seed)
      EXPECT_EQ(verdict_on(ray_deduplicated(processes, seed, window)).transport, Transport::kMixed);
  }
}

TEST(RayDedup, OfASecondCommunicatorOverTcpIsNoPass) {
  auto processes = run({.hosts = 2, .ranks_per_host = 4});
  for (FakeProcess& process : processes) process.network("Socket");
  FakeCommunicator second = world(processes);
  second.id = 0xc0ffee;
  open_communicator(processes, second, "Socket", false);
  for (const size_t window : kWindows) {
    for (uint32_t seed = 0; seed < 20; ++seed)
      EXPECT_EQ(verdict_on(ray_deduplicated(processes, seed, window)).transport, Transport::kMixed);
  }
}

TEST(RayDedup, OfRanksThatSaidNothingIsUnknown) {
  auto processes = run({.hosts = 2, .ranks_per_host = 8});
  processes.erase(processes.begin() + 12, processes.end());
  for (const size_t window : kWindows) {
    for (uint32_t seed = 0; seed < 20; ++seed)
      EXPECT_EQ(verdict_on(ray_deduplicated(processes, seed, window)).transport, Transport::kUnknown);
  }
}

TEST(RayDedup, OfOneHostIsNone) {
  const FakeJob job{.hosts = 1, .ranks_per_host = 8, .net = "Socket", .provider = ""};
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const JobVerdict verdict = verdict_on(ray_deduplicated(run(job), seed, 100000));
    EXPECT_EQ(verdict.transport, Transport::kNone) << verdict.reason;
    EXPECT_THAT(verdict.networks, ElementsAre("Socket"));
  }
}

TEST(Ray, PrefixesTellHostsOfOneNameApart) {
  std::string text = ray_deduplicated(run({.hosts = 2, .ranks_per_host = 2}), 1, 1);
  for (const char* host : {"node-0:", "node-1:"}) {
    for (size_t at; (at = text.find(host)) != text.npos;) text.replace(at, 7, "localhost:");
  }
  for (const char* address : {"eth0:192.0.2.11<", "eth0:192.0.2.12<"}) {
    for (size_t at; (at = text.find(address)) != text.npos;) text.replace(at, 16, "lo:127.0.0.1<");
  }
  const JobVerdict verdict = verdict_on(text);
  EXPECT_EQ(verdict.transport, Transport::kEfa) << verdict.reason;
  EXPECT_THAT(verdict.hosts, ElementsAre("localhost", "localhost (192.0.2.12)"));
}

}  // namespace
}  // namespace lockstep::transport
