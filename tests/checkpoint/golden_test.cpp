// A checkpoint that another program wrote by docs/checkpoint_format.md (scripts/references/checkpoint_v1.py):
// the page says what the code does, and version 1 stays readable.
#include <gmock/gmock.h>

#include <cstring>

#include "lockstep/checkpoint/fetch_state.h"
#include "lockstep/checkpoint/survey.h"
#include "tests/paths.h"

namespace lockstep::checkpoint {
namespace {

using testing::ElementsAre;

TEST(GoldenFile, VersionOneIsRead) {
  const auto store = storage::open_store(test_data("checkpoint/v1"));
  const Survey found = survey(*store);
  ASSERT_EQ(found.committed.size(), 1u);
  const Manifest& manifest = found.committed[0];
  EXPECT_EQ(manifest.id, (CheckpointId{200, 2}));
  EXPECT_EQ(manifest.world_size, 2);
  EXPECT_EQ(manifest.identity.at("optimizer.lr"), 1e-05);
  EXPECT_EQ(manifest.state.at("rows"), 1600);
  EXPECT_TRUE(manifest.metrics.at("held_out_loss").is_null());

  std::vector<float> a(12);  // elements 4 to 15, across the two shards
  std::vector<uint16_t> b(5);
  const std::vector<Target> targets = {
      {{{"weights/a", "F32", {7, 3}}, 4, 12}, std::as_writable_bytes(std::span(a))},
      {{{"weights/b", "BF16", {5}}, 0, 5}, std::as_writable_bytes(std::span(b))}};
  fetch_state(*store, manifest, targets);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(a[i], float(i + 4) / 8);
  EXPECT_THAT(b, ElementsAre(0x3f80, 0xc000, 0x3f00, 0x4040, 0xbe80));
}

}  // namespace
}  // namespace lockstep::checkpoint
