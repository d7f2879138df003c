#include "tests/base/include_arrows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/base/temporary_folder.h"
#include "tests/paths.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void plant(const TemporaryFolder& root, const std::string& file, const std::string& text) {
  const std::filesystem::path path = root / file;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(IncludeArrows, HoldInThisSourceTree) { EXPECT_THAT(broken_arrows(source_path()), IsEmpty()); }

TEST(IncludeArrows, NoHeaderIncludesLibtorchsUmbrella) {
  EXPECT_THAT(umbrella_includes(source_path()), IsEmpty());
}

TEST(IncludeArrows, BrokenOneIsFoundAmongGoodOnes) {
  const TemporaryFolder root;
  plant(root, "lockstep/fsdp/shard.h",
        "#include \"lockstep/base/check.h\"\n#include \"lockstep/comm/communicator.h\"\n#include <vector>\n");
  plant(root, "lockstep/nn/layer.cpp",
        "#include \"lockstep/nn/layer.h\"\n\n  #  include \"lockstep/train/loop.h\"  // why not\n");
  plant(root, "lockstep/launch/group.cpp", "#include <lockstep/record/record.h>\n");
  plant(root, "lockstep/kernels/sum.cu", "#include \"lockstep/nn/layer.h\"\n");
  EXPECT_THAT(broken_arrows(root.path()),
              ElementsAre("lockstep/kernels/sum.cu:1: kernels may not include nn",
                          "lockstep/launch/group.cpp:1: launch may not include record",
                          "lockstep/nn/layer.cpp:3: nn may not include train"));
}

TEST(IncludeArrows, ArrowsAreNotFollowedTwice) {
  const TemporaryFolder root;  // models -> nn -> kernels does not let models include kernels
  plant(root, "lockstep/models/decoder.h", "#include \"lockstep/kernels/adamw.h\"\n");
  EXPECT_THAT(broken_arrows(root.path()),
              ElementsAre("lockstep/models/decoder.h:1: models may not include kernels"));
}

TEST(IncludeArrows, WaysAroundThemAreFound) {
  const TemporaryFolder root;
  plant(root, "lockstep/nn/layer.h", "#include \"../train/loop.h\"\n#include \"train/loop.h\"\n");
  plant(root, "lockstep/train/loop.h", "#include \"lockstep/misc/things.h\"\n");
  plant(root, "lockstep/misc/things.h", "#include <vector>\n");
  EXPECT_THAT(broken_arrows(root.path()),
              ElementsAre("lockstep/misc/things.h:1: the arrows know no folder \"misc\"",
                          "lockstep/nn/layer.h:1: ../train/loop.h leaves its folder",
                          "lockstep/nn/layer.h:2: train/loop.h without lockstep/ before it",
                          "lockstep/train/loop.h:1: train may not include misc"));
}

TEST(IncludeArrows, UmbrellaIsFoundInHeadersOnly) {
  const TemporaryFolder root;
  plant(root, "lockstep/nn/layer.h", "#include <torch/torch.h>\n");
  plant(root, "lockstep/nn/layer.cpp", "#include <torch/torch.h>\n");
  EXPECT_THAT(umbrella_includes(root.path()),
              ElementsAre("lockstep/nn/layer.h:1: torch/torch.h in a header"));
}

}  // namespace
}  // namespace lockstep
