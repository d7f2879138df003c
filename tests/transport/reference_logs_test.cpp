// The logs of tests/data/transport and the verdicts that are right for them.
#include <gtest/gtest.h>

#include "lockstep/transport/verdict_tsv.h"
#include "tests/transport/log_files.h"

namespace lockstep::transport {
namespace {

class ReferenceLog : public testing::TestWithParam<ExpectedRow> {};

TEST_P(ReferenceLog, IsJudgedRightInEveryColumn) {
  const ExpectedRow& row = GetParam();
  EXPECT_EQ(columns_of(row.file, verdict_on(log_text(row.file))), row.columns);
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceLog, testing::ValuesIn(expected_rows()), [](const auto& info) {
  return info.param.file.substr(0, info.param.file.find('.'));
});

TEST(ReferenceLogs, TheHeaderNamesTheColumns) {
  EXPECT_EQ(tsv_header(), lines_of(log_text("expected.tsv")).front() + "\n");
}

TEST(ReferenceLogs, SomeAreOnlySelectedOthersConnected) {
  EXPECT_EQ(verdict_on(log_text("a01_p4d_efa_gdr_2x8.log")).level, Level::kConnected);
  EXPECT_EQ(verdict_on(log_text("a15_init_only_lazy.log")).level, Level::kSelected);
  EXPECT_EQ(verdict_on(log_text("a14_truncated_half_ranks.log")).level, Level::kNothing);
}

}  // namespace
}  // namespace lockstep::transport
