#include "lockstep/cluster/library_probe.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace lockstep::cluster {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

TEST(LibraryProbe, SaysWhatTheLibrarySaysOfItself) {
  const LibraryProbe probe = probe_library(PROBED_PLUGIN);
  EXPECT_EQ(probe.error, "");
  EXPECT_THAT(probe.path, EndsWith("/libprobed_plugin.so"));
  EXPECT_EQ(probe.nccl_version, 22809);
  EXPECT_EQ(probe.fabric_version, 2 << 16 | 3);
  EXPECT_THAT(probe.net_apis, ElementsAre(8, 10));
  EXPECT_EQ(probe.ofi_version, "1.17.2");
}

TEST(LibraryProbe, OneThatIsNotThereIsToldFromOneThatNeedsAnother) {
  const LibraryProbe none = probe_library("libno-such-plugin.so");
  EXPECT_TRUE(is_not_found("libno-such-plugin.so", none.error)) << none.error;
  EXPECT_EQ(missing_dependency("libno-such-plugin.so", none.error), std::nullopt);
  const LibraryProbe broken = probe_library(PROBED_BROKEN);
  EXPECT_FALSE(is_not_found(PROBED_BROKEN, broken.error));
  EXPECT_EQ(missing_dependency(PROBED_BROKEN, broken.error), "libvanishing.so") << broken.error;
}

TEST(LibraryProbe, ACrashOfTheLibraryIsItsOwn) {
  EXPECT_THAT(probe_library(PROBED_CRASH).error, HasSubstr("ended the process that loaded it with signal 6"));
}

TEST(LibraryProbe, OneThatNeverEndsIsGivenUp) {
  setenv("PROBED_HANGS", "1", 1);
  EXPECT_THAT(probe_library(PROBED_CRASH, std::chrono::milliseconds(50)).error,
              HasSubstr("did not load within"));
  unsetenv("PROBED_HANGS");
}

}  // namespace
}  // namespace lockstep::cluster
