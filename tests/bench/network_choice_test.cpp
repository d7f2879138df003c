#include "lockstep/bench/network_choice.h"

#include <gmock/gmock.h>

#include "tests/base/refusal.h"

namespace lockstep::bench {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& names, const std::vector<std::string>& settings) {
  return refusal_of([&] { parse_networks(names, settings); });
}

TEST(NetworkChoice, KnownOnesGuardAgainstTheSilentFallback) {
  const auto networks = parse_networks("efa,tcp", {});
  EXPECT_EQ(networks[0].environment.at("NCCL_NET"), "AWS Libfabric");
  EXPECT_EQ(networks[1].words(), "NCCL_NET=Socket NCCL_NET_PLUGIN=none");
  EXPECT_EQ(parse_networks("asis,tcp", {})[0].words(), "the environment as it is");
}

TEST(NetworkChoice, SettingsMakeOthersAndAddToKnownOnes) {
  const auto networks =
      parse_networks("lo,tcp", {"lo:GLOO_SOCKET_IFNAME=lo", "tcp:NCCL_SOCKET_IFNAME==eth0"});
  EXPECT_EQ(networks[0].words(), "GLOO_SOCKET_IFNAME=lo");
  EXPECT_EQ(networks[1].environment.at("NCCL_SOCKET_IFNAME"), "=eth0");
  EXPECT_EQ(networks[1].environment.at("NCCL_NET"), "Socket");
}

TEST(NetworkChoice, WhatCannotBeComparedIsRefused) {
  EXPECT_THAT(refusal("tcp", {}), HasSubstr("it takes two networks or more"));
  EXPECT_THAT(refusal("tcp,tcp", {}), HasSubstr("names \"tcp\" twice"));
  EXPECT_THAT(refusal("tcp,lo", {}),
              HasSubstr("no network \"lo\" is known, but asis, efa, ib, tcp; --set lo:"));
  EXPECT_THAT(refusal("efa,tcp", {"lo:A=b"}), HasSubstr("for \"lo\", which --compare efa,tcp does not name"));
  for (const char* setting : {"tcp", "tcp:A", ":A=b", "tcp:=b"})
    EXPECT_THAT(refusal("efa,tcp", {setting}), HasSubstr("--set takes NAME:VARIABLE=VALUE"));
}

}  // namespace
}  // namespace lockstep::bench
