#include "lockstep/record/event_sink.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/record/memory_lines.h"

namespace lockstep::record {
namespace {

TEST(EventWriter, AnEventIsStampedAndThenGivesItsFields) {
  MemoryLines lines;
  EventWriter(2, {&lines}).emit("evaluation", {{"when", "before"}, {"loss", 3.5}});
  ASSERT_EQ(lines.lines.size(), 1u);
  EXPECT_THAT(
      lines.lines[0],
      testing::MatchesRegex("\\{\"version\":1,\"time\":\"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z\","
                            "\"generation\":2,\"event\":\"evaluation\",\"when\":\"before\",\"loss\":3.5\\}"));
}

TEST(EventWriter, EveryPlaceGetsTheSameLine) {
  MemoryLines file, pipe;
  EventWriter(1, {&file, &pipe}).emit("started", {{"steps", 20}});
  EXPECT_EQ(file.lines, pipe.lines);
}

TEST(EventWriter, WithoutPlacesNothingHappens) {
  EXPECT_NO_THROW(EventWriter(1, {}).emit("started", {{"steps", 20}}));
}

TEST(EventWriter, FieldsMayBeLeftOut) {
  MemoryLines lines;
  EventWriter(1, {&lines}).emit("started", {});
  EXPECT_THAT(lines.lines[0], testing::EndsWith("\"event\":\"started\"}"));
}

TEST(EventWriter, AFieldNamedLikeTheStampIsOurOwnMistake) {
  EXPECT_DEATH(make_event(1, "started", {{"time", 3}}), "'time' twice");
  EXPECT_DEATH(make_event(1, "started", Json::array({1})), "started");
}

TEST(ToLine, IsAlwaysOneLineOfJson) {
  const Json json = {{"loss", std::numeric_limits<double>::quiet_NaN()},
                     {"norm", std::numeric_limits<double>::infinity()},
                     {"text", "two\nlines, \xff"}};
  EXPECT_EQ(to_line(json), "{\"loss\":null,\"norm\":null,\"text\":\"two\\nlines, \xEF\xBF\xBD\"}");
}

}  // namespace
}  // namespace lockstep::record
