// What is read of the host, from made-up trees.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/bench/line_rate.h"
#include "lockstep/bench/memory.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::bench {
namespace {

void plant(const TemporaryFolder& root, const std::string& path, const std::string& text) {
  const std::filesystem::path file = root.path() + path;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

void plant_interfaces(const TemporaryFolder& root) {
  plant(root, "/proc/self/net/dev",
        "eth0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\neth1: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
}

TEST(LineRate, IsThatOfTheDefaultRouteUnlessAnotherInterfaceIsNamed) {
  const TemporaryFolder root;
  plant_interfaces(root);
  plant(root, "/proc/net/route",
        "Iface\tDestination\tGateway\neth1\t0000FEA9\t00000000\neth0\t00000000\t0102A8C0\n");
  plant(root, "/sys/class/net/eth0/speed", "25000\n");
  plant(root, "/sys/class/net/eth1/speed", "100000\n");
  const auto by_route = listed_line_rate(root.path(), "");
  ASSERT_TRUE(by_route);
  EXPECT_EQ(by_route->gbit_per_s, 25);
  EXPECT_EQ(by_route->gbyte_per_s(), 3.125);
  EXPECT_EQ(by_route->source, "/sys/class/net/eth0/speed");
  EXPECT_EQ(listed_line_rate(root.path(), "=eth1")->gbit_per_s, 100);
  EXPECT_EQ(listed_line_rate(root.path(), "^docker0")->gbit_per_s, 25) << "names no interface: the default";
}

TEST(LineRate, OfAVirtualInterfaceIsNotKnown) {
  const TemporaryFolder root;
  EXPECT_FALSE(listed_line_rate(root.path(), ""));
  plant_interfaces(root);
  plant(root, "/proc/net/route", "Iface\tDestination\neth0\t00000000\n");
  plant(root, "/sys/class/net/eth0/speed", "-1\n");
  EXPECT_FALSE(listed_line_rate(root.path(), ""));
}

TEST(FreeHostBytes, AreTheLessOfTheHostsAndTheMemoryGroups) {
  const TemporaryFolder root;
  EXPECT_THROW(free_host_bytes(root.path()), IoError);
  plant(root, "/proc/meminfo", "MemTotal: 8000 kB\nMemAvailable: 4000 kB\n");
  EXPECT_EQ(free_host_bytes(root.path()), 4000 * 1024);
  plant(root, "/sys/fs/cgroup/memory.max", "max\n");
  plant(root, "/sys/fs/cgroup/memory.current", "1000\n");
  EXPECT_EQ(free_host_bytes(root.path()), 4000 * 1024);
  plant(root, "/sys/fs/cgroup/memory.max", "3000\n");
  EXPECT_EQ(free_host_bytes(root.path()), 2000);
}

}  // namespace
}  // namespace lockstep::bench
