#include "lockstep/data/held_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data_tests/fixtures.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HeldOut, ReadsANumberAsAShareAndTheRestAsAFile) {
  EXPECT_EQ(HeldOut::parse("0.05").share, 0.05);
  EXPECT_EQ(HeldOut::parse("5e-2").share, 0.05);
  EXPECT_EQ(HeldOut::parse("0.05.jsonl").path, "0.05.jsonl");
  EXPECT_FALSE(HeldOut::parse("").share);
}

TEST(HeldOut, RefusesAShareThatIsNone) {
  for (const char* value : {"0", "1", "1.5", "-0.1", "nan", "100"}) {
    EXPECT_THAT(message_of<ConfigError>([&] { HeldOut::parse(value); }), HasSubstr("between 0 and 1, got "));
  }
}

TEST(ChooseHeldOut, DoesNotDependOnTheOrder) {
  const std::vector<uint64_t> hashes = {50, 10, 40, 20, 30};
  EXPECT_THAT(choose_held_out(hashes, 0.4), ElementsAre(false, true, false, true, false));
  const std::vector<uint64_t> reversed(hashes.rbegin(), hashes.rend());
  EXPECT_THAT(choose_held_out(reversed, 0.4), ElementsAre(false, true, false, true, false));
}

TEST(ChooseHeldOut, TakesAtLeastOne) {
  const std::vector<uint64_t> hashes = {50, 10, 40};
  EXPECT_THAT(choose_held_out(hashes, 0.01), ElementsAre(false, true, false));
}

TEST(ChooseHeldOut, KeepsEqualSamplesTogether) {
  const std::vector<uint64_t> hashes = {10, 50, 10, 60};
  EXPECT_THAT(choose_held_out(hashes, 0.25), ElementsAre(true, false, true, false));
}

}  // namespace
}  // namespace lockstep::data
