#include <gmock/gmock.h>

#include "lockstep/cluster/node_checks.h"
#include "made_up_node.h"

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;

Check locked(const MadeUpNode& made) { return check_locked_memory(made.node, NetworkDevices::of(made.node)); }
Check huge_pages(const MadeUpNode& made) {
  return check_huge_pages(made.node, NetworkDevices::of(made.node));
}

TEST(LockedMemoryCheck, ALowLimitIsAtFaultOnlyWhereDevicesPinMemory) {
  MadeUpNode made;
  EXPECT_EQ(locked(made).state, CheckState::kGood);
  EXPECT_EQ(locked(made).saw, "limit 8.00 MiB; no device here pins memory");
  made.add_efa("rdmap0s6");
  EXPECT_EQ(locked(made).state, CheckState::kFault);
  made.plant("/proc/self/limits",
             "Max locked memory         unlimited            unlimited            bytes\n");
  EXPECT_EQ(locked(made).state, CheckState::kGood);
  EXPECT_EQ(locked(made).saw, "limit unlimited");
}

TEST(LockedMemoryCheck, WithoutALimitThatCanBeReadSaysSo) {
  MadeUpNode made;
  made.plant("/proc/self/limits", "");
  EXPECT_EQ(locked(made).state, CheckState::kNote);
}

TEST(SharedMemoryCheck, DockersDefaultIsTooSmallForSeveralGpus) {
  MadeUpNode made;
  EXPECT_EQ(check_shared_memory(made.node, made.driver).state, CheckState::kGood);
  made.add_gpus(2);
  EXPECT_EQ(check_shared_memory(made.node, made.driver).state, CheckState::kFault);
  EXPECT_THAT(check_shared_memory(made.node, made.driver).fix, HasSubstr("medium: Memory"));
  made.shared_memory_bytes = int64_t{8} << 30;
  EXPECT_EQ(check_shared_memory(made.node, made.driver).state, CheckState::kGood);
  made.shared_memory_bytes.reset();
  EXPECT_EQ(check_shared_memory(made.node, made.driver).saw, "there is none");
}

TEST(HugePagesCheck, ExhaustedOnesAreANoteWithEfa) {
  MadeUpNode made;
  EXPECT_EQ(huge_pages(made).saw, "none set aside");
  made.plant("/proc/meminfo",
             "HugePages_Total:    5128\nHugePages_Free:        0\nHugepagesize:       2048 kB\n");
  EXPECT_EQ(huge_pages(made).state, CheckState::kGood);
  made.add_efa("rdmap0s6");
  EXPECT_EQ(huge_pages(made).state, CheckState::kNote);
  EXPECT_EQ(huge_pages(made).saw, "0 of 5128 free, 2.00 MiB each");
}

}  // namespace
}  // namespace lockstep::cluster
