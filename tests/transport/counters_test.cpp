// Counters of made-up hosts, read through files as on real ones.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "lockstep/transport/expected_bytes.h"
#include "lockstep/transport/host_traffic.h"
#include "lockstep/transport/requirement.h"
#include "tests/base/temporary_folder.h"
#include "tests/transport/log_files.h"

namespace lockstep::transport {
namespace {

using testing::ElementsAre;
using testing::Optional;
using Kind = NetworkDevice::Kind;

constexpr int64_t kGigabyte = 1'000'000'000;

class FakeHost {
 public:
  void file(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void efa(const std::string& name, int64_t tx_bytes) {
    const std::string device = "sys/class/infiniband/" + name;
    file(device + "/device/vendor", "0x1d0f");
    file(device + "/device/numa_node", "1");
    file(device + "/ports/1/link_layer", "Unspecified");
    file(device + "/ports/1/state", "4: ACTIVE");
    file(device + "/ports/1/rate", "100 Gb/sec (4X EDR)");
    file(device + "/ports/1/hw_counters/tx_bytes", std::to_string(tx_bytes));
  }
  void ethernet(int64_t tx_bytes) {
    file("proc/self/net/dev",
         "Inter-|   Receive                            |  Transmit\n"
         " face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls "
         "carrier\n"
         "    lo: 9 9 0 0 0 0 0 0 999999999999 9 0 0 0 0 0 0\n"
         "  eth0: 7 7 0 0 0 0 0 0 " +
             std::to_string(tx_bytes) + " 7 0 0 0 0 0 0");
  }
  std::vector<NetworkDevice> devices() const { return network_devices(folder_.path()); }

 private:
  const TemporaryFolder folder_;
};

TEST(NetworkDevices, AreReadWithTheirRatesAndCounters) {
  FakeHost host;
  host.efa("rdmap1", 12);
  host.ethernet(34);
  host.file("sys/class/net/eth0/speed", "25000");
  const std::string mlx = "sys/class/infiniband/mlx5_0";
  host.file(mlx + "/device/vendor", "0x15b3");
  host.file(mlx + "/ports/1/link_layer", "InfiniBand");
  host.file(mlx + "/ports/1/rate", "400 Gb/sec (4X NDR)");
  host.file(mlx + "/ports/1/counters/port_xmit_data", "5");
  host.file(mlx + "/ports/2/link_layer", "InfiniBand");
  host.file(mlx + "/ports/2/state", "1: DOWN");
  host.file(mlx + "/ports/2/rate", "400 Gb/sec (4X NDR)");
  const auto devices = host.devices();
  ASSERT_EQ(devices.size(), 3);
  EXPECT_EQ(devices[0].kind, Kind::kEfa);
  EXPECT_THAT(devices[0].line_rate, Optional(12'500'000'000));
  EXPECT_THAT(devices[0].sent_bytes, Optional(12));
  EXPECT_THAT(devices[0].numa_node, Optional(1));
  EXPECT_EQ(devices[1].kind, Kind::kIb);
  EXPECT_THAT(devices[1].line_rate, Optional(50'000'000'000)) << "a port that is down adds nothing";
  EXPECT_THAT(devices[1].sent_bytes, Optional(20)) << "the counter's unit is four bytes";
  EXPECT_EQ(devices[2].name, "eth0");
  EXPECT_THAT(devices[2].line_rate, Optional(3'125'000'000));
  EXPECT_THAT(devices[2].sent_bytes, Optional(34));
}

TEST(NetworkDevices, WithoutFilesThereIsNothingAndNoZero) {
  FakeHost host;
  EXPECT_TRUE(host.devices().empty());
  host.file("sys/class/infiniband/rdmap1/device/vendor", "0x1d0f");  // as in a pod with a network of its own
  ASSERT_EQ(host.devices().size(), 1);
  EXPECT_EQ(host.devices()[0].sent_bytes, std::nullopt);
  EXPECT_EQ(counters_of(host.devices()).efa_bytes, std::nullopt);
}

// The log of a job over EFA, and what its hosts counted while it moved 10 GB.
class GoodLooking : public testing::Test {
 protected:
  JobVerdict verdict_after(int64_t efa_bytes, int64_t ethernet_bytes) {
    std::vector<HostTraffic> sent;
    for (int host = 0; host < 2; ++host) {
      FakeHost fake;
      fake.efa("rdmap1", 5 * kGigabyte);
      fake.efa("rdmap2", 6 * kGigabyte);
      fake.ethernet(7 * kGigabyte);
      const HostTraffic before = counters_of(fake.devices());
      fake.efa("rdmap2", 6 * kGigabyte + efa_bytes);
      fake.ethernet(7 * kGigabyte + ethernet_bytes);
      sent.push_back(sent_between(before, counters_of(fake.devices())));
    }
    JobVerdict verdict = verdict_on(log_text("a02_p5_efa_direct_2x8.log"));
    EXPECT_EQ(verdict.transport, Transport::kEfa);
    // 16 ranks on 2 hosts gave 15 parts each.
    const GroupTraffic group{.ranks_per_host = {8, 8}, .sent_bytes = 10 * kGigabyte};
    overrule(verdict, judge_moved(sent, expected_bytes(std::vector{group}), verdict.transport));
    return verdict;
  }
};

TEST_F(GoodLooking, FlatEfaBesideGrowingEthernetIsSocketAndRefused) {
  const JobVerdict verdict = verdict_after(0, 10 * kGigabyte);
  EXPECT_EQ(verdict.transport, Transport::kSocket);
  EXPECT_EQ(verdict.level, Level::kMoved);
  EXPECT_THAT(refusal(verdict, {.requirement = Requirement::kEfa}),
              testing::HasSubstr("the log says efa, but"));
}

TEST_F(GoodLooking, GrowingEfaIsEfaThatMoved) {
  const JobVerdict verdict = verdict_after(10 * kGigabyte, kGigabyte / 100);
  EXPECT_EQ(verdict.transport, Transport::kEfa);
  EXPECT_EQ(verdict.level, Level::kMoved);
}

TEST(ExpectedBytes, AreBetweenTheLeastAndWhatARingOrAnExchangeSends) {
  const auto bytes = [](std::vector<int> ranks_per_host, int64_t sent) {
    const ExpectedBytes expected = expected_bytes(std::vector{GroupTraffic{std::move(ranks_per_host), sent}});
    return std::pair(expected.least, expected.most);
  };
  EXPECT_EQ(bytes({1, 1}, 100), std::pair(int64_t{100}, int64_t{100})) << "one rank a host: there is one way";
  EXPECT_EQ(bytes({2, 2}, 300),
            std::pair(int64_t{200}, int64_t{400}));  // parts of 100: 1/2 of 4; 2 x 2 pairs
  EXPECT_EQ(bytes({4}, 300), std::pair(int64_t{0}, int64_t{0}));
}

}  // namespace
}  // namespace lockstep::transport
