// What is asked of a network, and what is refused.
#include "lockstep/transport/requirement.h"

#include <gmock/gmock.h>

namespace lockstep::transport {
namespace {

using testing::HasSubstr;

JobVerdict verdict(Transport transport, Level level) {
  JobVerdict verdict;
  verdict.transport = transport;
  verdict.level = level;
  verdict.reason = "the lines say so";
  return verdict;
}

TEST(Requirement, UnknownNeverPasses) {
  for (const Requirement requirement :
       {Requirement::kAny, Requirement::kEfa, Requirement::kIb, Requirement::kRoce})
    EXPECT_FALSE(passes(Transport::kUnknown, requirement));
  EXPECT_TRUE(passes(Transport::kEfa, Requirement::kEfa));
  EXPECT_TRUE(passes(Transport::kSocket, Requirement::kAny));
  for (const Transport transport : {Transport::kNone, Transport::kIb, Transport::kRoce, Transport::kSocket,
                                    Transport::kOfiTcp, Transport::kMixed}) {
    EXPECT_FALSE(passes(transport, Requirement::kEfa)) << word(transport);
  }
}

TEST(Requirement, NonePassesOnlyWhereTheLauncherSaysOneNode) {
  const Rule rule{.requirement = Requirement::kEfa, .least = Level::kConnected, .one_node = true};
  EXPECT_EQ(refusal(verdict(Transport::kNone, Level::kSelected), rule), "");
  EXPECT_THAT(refusal(verdict(Transport::kNone, Level::kConnected), {.requirement = Requirement::kEfa}),
              HasSubstr("the transport is none, required is efa: the lines say so"));
  EXPECT_THAT(refusal(verdict(Transport::kSocket, Level::kConnected), rule),
              HasSubstr("socket, required is efa"));
}

TEST(Requirement, TheEvidenceMustGoAsFarAsIsAsked) {
  const Rule rule{.requirement = Requirement::kEfa, .least = Level::kConnected};
  EXPECT_THAT(refusal(verdict(Transport::kEfa, Level::kSelected), rule),
              HasSubstr("only selected, not connected"));
  EXPECT_EQ(refusal(verdict(Transport::kEfa, Level::kMoved), rule), "");
}

}  // namespace
}  // namespace lockstep::transport
