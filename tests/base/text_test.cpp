// Byte sizes, times, nearest words, UTF-8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/byte_size.h"
#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/base/nearest.h"
#include "lockstep/base/utf8.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(ByteSize, HasThreeDigitsAndTheLargestUnitThatFits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(10'239), "10.0 KiB") << "not 10.00";
  EXPECT_EQ(format_bytes(141'557'760), "135 MiB");
  EXPECT_EQ(format_bytes((1LL << 30) - 1), "1.00 GiB") << "not 1024 MiB";
  EXPECT_EQ(format_bytes(INT64_MAX), "8192 PiB");
}

TEST(ByteSize, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("1048576"), 1048576);
  EXPECT_EQ(parse_bytes("7 B"), 7);
  EXPECT_EQ(parse_bytes("1.5 KiB"), 1536);
  EXPECT_EQ(parse_bytes("2GB"), 2'000'000'000);
  EXPECT_EQ(parse_bytes("3kB"), 3000);
  EXPECT_EQ(parse_bytes("512 MiB"), 512LL << 20);
}

TEST(ByteSize, RefusesWhatIsNone) {
  for (const char* text :
       {"", "MiB", "-1", "5 XiB", "5 iB", "1 kib", "5 MiB ", "nan", "inf", "1e30", "9000 PiB"}) {
    EXPECT_THROW(parse_bytes(text), ConfigError) << text;
  }
}

TEST(Clock, WritesUtcWithMilliseconds) {
  using std::chrono::milliseconds;
  EXPECT_EQ(format_utc(std::chrono::system_clock::time_point(milliseconds(1'767'323'045'678))),
            "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(format_utc(std::chrono::system_clock::time_point(milliseconds(-1))), "1969-12-31T23:59:59.999Z");
  EXPECT_THAT(utc_now(), MatchesRegex("....-..-..T..:..:..\\....Z"));
}

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("steps", "stpes"), 1U) << "a swap of neighbours is one edit";
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

TEST(Nearest, FindsTheLeastDistanceOrNothing) {
  EXPECT_EQ(nearest("trian", {"report", "train", "trial"}), "train");
  EXPECT_EQ(nearest("dance", {"report", "train"}), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
  EXPECT_EQ(nearest("seed", {"seem", "seek"}), "seem") << "the first of two as near";
}

TEST(Utf8, FindsTheFirstByteThatIsNoText) {
  EXPECT_EQ(find_invalid_utf8("plain, \xc3\xa4, \xe2\x82\xac, \xf0\x9f\x98\x80, \xf4\x8f\xbf\xbf"),
            std::nullopt);
  const std::pair<std::string, const char*> broken[] = {
      {"ab\x80", "continuation alone"},         {"ab\xc3", "cut short"},
      {"ab\xc0\xaf", "overlong, two"},          {"ab\xe0\x9f\xbf", "overlong, three"},
      {"ab\xf0\x8f\xbf\xbf", "overlong, four"}, {"ab\xed\xa0\x80", "surrogate"},
      {"ab\xf4\x90\x80\x80", "above U+10FFFF"}, {"ab\xff", "no UTF-8 byte"},
      {std::string("ab\0c", 4), "zero"}};
  for (const auto& [text, what] : broken) EXPECT_EQ(find_invalid_utf8(text), 2U) << what;
}

}  // namespace
}  // namespace lockstep
