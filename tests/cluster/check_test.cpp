#include "lockstep/cluster/check.h"

#include <gmock/gmock.h>

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;
using testing::Not;

const Check kGood = {"gpus", CheckArea::kMachine, CheckState::kGood, "2 GPUs", "each worker takes one", ""};
const Check kNote = {"plugin", CheckArea::kNetwork, CheckState::kNote, "none", "TCP is used", ""};
const Check kMachineFault = {"driver",  CheckArea::kMachine, CheckState::kFault,
                             "too old", "CUDA 13",           "a newer one"};
const Check kNetworkFault = {"verbs", CheckArea::kNetwork, CheckState::kFault, "no device",
                             "TCP",   "request one"};

TEST(Checks, AreALineEachWithWhyAndFixWhereSomethingIsToBeKnown) {
  const std::string text = checks_text({kGood, kNote, kMachineFault});
  EXPECT_THAT(text, HasSubstr("ok     gpus             2 GPUs\n"));
  EXPECT_THAT(text, Not(HasSubstr("each worker takes one")));
  EXPECT_THAT(text,
              HasSubstr("note   plugin           none\n                        why: TCP is used\nfault"));
  EXPECT_THAT(text, HasSubstr(" fix: a newer one\n3 checks: 1 fault, 1 note"));
}

TEST(Checks, AreJsonWithAllTheirWords) {
  const Json json = checks_json({kGood, kNetworkFault});
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["faults"], 1);
  EXPECT_EQ(json["checks"][0]["why"], "each worker takes one");
  EXPECT_EQ(json["checks"][1]["area"], "network");
  EXPECT_EQ(json["checks"][1]["state"], "fault");
}

TEST(Checks, AFaultOfTheNetworkIsExitCode5AndOthersAre2) {
  EXPECT_NO_THROW(require_no_fault({kGood, kNote}, "doctor"));
  EXPECT_THROW(require_no_fault({kGood, kMachineFault}, "doctor"), ConfigError);
  EXPECT_THROW(require_no_fault({kMachineFault, kNetworkFault}, "doctor"), TransportError);
  try {
    require_no_fault({kGood, kMachineFault, kNetworkFault}, "doctor");
  } catch (const TransportError& error) {
    EXPECT_STREQ(error.what(), "doctor: driver: too old. a newer one (and 1 more)");
  }
}

}  // namespace
}  // namespace lockstep::cluster
