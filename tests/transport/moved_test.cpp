#include "lockstep/transport/moved.h"

#include <gmock/gmock.h>

namespace lockstep::transport {
namespace {

using testing::HasSubstr;

constexpr int64_t kMegabyte = 1'000'000;
// 2 hosts of 8 ranks, 3 x 3.554 GB of parameters and gradients a step.
constexpr ExpectedBytes kExpected{5330 * kMegabyte, 9995 * kMegabyte};

HostTraffic host(int64_t efa, int64_t ethernet) {
  return {"node-0", efa * kMegabyte, std::nullopt, ethernet * kMegabyte};
}

Transport moved(const std::vector<HostTraffic>& hosts, Transport by_log = Transport::kEfa) {
  return judge_moved(hosts, kExpected, by_log).transport;
}

TEST(Moved, BytesOverEfaAreEfa) {
  EXPECT_EQ(moved({host(9995, 3), host(9995, 0)}), Transport::kEfa);
  EXPECT_EQ(moved({host(5100, 3)}), Transport::kEfa);
}

TEST(Moved, FlatEfaBesideGrowingEthernetIsTcpWhateverTheLogSays) {
  EXPECT_EQ(moved({host(0, 10200), host(1, 10200)}), Transport::kSocket);
  EXPECT_EQ(moved({host(0, 10200)}, Transport::kOfiTcp), Transport::kOfiTcp);
}

TEST(Moved, CountersOfVerbsDevicesAreTheKindThatTheLogSays) {
  const HostTraffic verbs{"node-0", std::nullopt, 10100 * kMegabyte, 2 * kMegabyte};
  EXPECT_EQ(moved({verbs}, Transport::kIb), Transport::kIb);
  EXPECT_EQ(moved({verbs}, Transport::kRoce), Transport::kRoce);
}

TEST(Moved, BytesThatDoNotFitShowNothing) {
  EXPECT_EQ(moved({host(3000, 0)}), Transport::kUnknown);     // fewer than any algorithm needs
  EXPECT_EQ(moved({host(20000, 0)}), Transport::kUnknown);    // somebody else's too
  EXPECT_EQ(moved({host(9995, 5000)}), Transport::kUnknown);  // both
  EXPECT_EQ(moved({host(9995, 9995)}), Transport::kUnknown);
  EXPECT_EQ(moved({host(9995, 0), host(0, 0)}), Transport::kUnknown);
}

TEST(Moved, HostsThatDifferAreMixed) { EXPECT_EQ(moved({host(9995, 0), host(0, 9995)}), Transport::kMixed); }

TEST(Moved, MissingCountersAreSaidToBeMissing) {
  const MovedVerdict verdict = judge_moved(std::vector<HostTraffic>{{"node-3"}}, kExpected, Transport::kEfa);
  EXPECT_EQ(verdict.transport, Transport::kUnknown);
  EXPECT_THAT(verdict.reason, HasSubstr("counters of node-3 cannot be read"));
  EXPECT_EQ(moved({}), Transport::kUnknown);
}

TEST(Moved, FewBytesShowNothing) {
  const ExpectedBytes few{10 * kMegabyte, 20 * kMegabyte};
  EXPECT_EQ(judge_moved(std::vector<HostTraffic>{host(15, 0)}, few, Transport::kEfa).transport,
            Transport::kUnknown);
}

TEST(Moved, CountersOverruleTheLog) {
  JobVerdict verdict;
  verdict.transport = Transport::kEfa;
  verdict.level = Level::kConnected;
  verdict.reason = "connected";
  overrule(verdict, {Transport::kUnknown, "no counters"});
  EXPECT_EQ(verdict.level, Level::kConnected);
  overrule(verdict, judge_moved(std::vector<HostTraffic>{host(0, 10200)}, kExpected, verdict.transport));
  EXPECT_EQ(verdict.transport, Transport::kSocket);
  EXPECT_EQ(verdict.level, Level::kMoved);
  EXPECT_THAT(verdict.reason, HasSubstr("the log says efa, but on node-0 EFA sent 0 B"));
}

}  // namespace
}  // namespace lockstep::transport
