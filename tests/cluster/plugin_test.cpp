#include <gmock/gmock.h>

#include "lockstep/cluster/node_checks.h"
#include "made_up_node.h"

namespace lockstep::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Check plugin(const MadeUpNode& made) {
  return check_plugin(PluginSearch::of(made.node), made.node.probe("libnccl.so.2"),
                      NetworkDevices::of(made.node));
}

LibraryProbe good_plugin() {
  return {
      .path = "/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so", .net_apis = {6, 8, 11}, .ofi_version = "1.18.0"};
}

TEST(PluginSearch, FollowsNcclsRulesForTheName) {
  MadeUpNode made;
  EXPECT_THAT(PluginSearch::of(made.node).tried, ElementsAre("libnccl-net.so"));
  made.node.environment["NCCL_NET_PLUGIN"] = "ofi";
  EXPECT_THAT(PluginSearch::of(made.node).tried, ElementsAre("ofi", "libnccl-net-ofi.so"));
  made.node.environment["NCCL_NET_PLUGIN"] = "ofi,/opt/x/libnccl-net.so";
  EXPECT_THAT(PluginSearch::of(made.node).tried,
              ElementsAre("ofi", "libnccl-net-ofi.so", "/opt/x/libnccl-net.so"));
  made.node.environment["NCCL_NET_PLUGIN"] = "none";
  EXPECT_TRUE(PluginSearch::of(made.node).off);
}

TEST(PluginSearch, NcclsSettingMayStandInItsFiles) {
  MadeUpNode made;
  made.plant("/etc/nccl.conf", "NCCL_DEBUG=INFO\nNCCL_NET_PLUGIN = ofi\n");
  EXPECT_EQ(PluginSearch::of(made.node).setting, "ofi");
  made.node.environment["HOME"] = "/root";
  made.plant("/root/.nccl.conf", "NCCL_NET_PLUGIN=none\n");
  EXPECT_TRUE(PluginSearch::of(made.node).off) << "before /etc";
  made.node.environment["NCCL_NET_PLUGIN"] = "aws";
  EXPECT_EQ(PluginSearch::of(made.node).setting, "aws") << "before both files";
}

TEST(PluginCheck, NoPluginIsAtFaultOnlyWhereItIsNeededOrAskedFor) {
  MadeUpNode made;
  EXPECT_EQ(plugin(made).state, CheckState::kNote);
  made.node.environment["NCCL_NET_PLUGIN"] = "ofi";
  EXPECT_EQ(plugin(made).state, CheckState::kFault);
  EXPECT_EQ(plugin(made).saw, "NCCL_NET_PLUGIN is ofi, but there is no ofi, libnccl-net-ofi.so");
  made.node.environment.clear();
  made.add_efa("rdmap0s6");
  EXPECT_EQ(plugin(made).state, CheckState::kFault);
}

TEST(PluginCheck, AnInstalledOneThatTheLoaderDoesNotSearchIsNamed) {
  MadeUpNode made;
  made.add_efa("rdmap0s6");
  made.plant("/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so");
  EXPECT_EQ(plugin(made).fix, "put /opt/amazon/ofi-nccl/lib on LD_LIBRARY_PATH");
}

TEST(PluginCheck, WhatItNeedsAndIsNotThereIsNamed) {
  MadeUpNode made;
  made.libraries["libnccl-net.so"] = {
      .error = "libfabric.so.1: cannot open shared object file: No such file or directory"};
  EXPECT_EQ(plugin(made).state, CheckState::kFault);
  EXPECT_EQ(plugin(made).saw, "libnccl-net.so does not load: libfabric.so.1 is missing");
  made.libraries["libnccl-net.so"] = {
      .error = "/usr/lib/libfabric.so.1: version `FABRIC_1.8' not found (required by /opt/libnccl-net.so)"};
  EXPECT_EQ(plugin(made).saw,
            "libnccl-net.so does not load: version FABRIC_1.8 of /usr/lib/libfabric.so.1 is missing");
  made.libraries["libnccl-net.so"] = {.error =
                                          "libnccl-net.so ended the process that loaded it with signal 11"};
  EXPECT_THAT(plugin(made).saw, HasSubstr("does not load: libnccl-net.so ended the process"));
}

TEST(PluginCheck, OneThatNcclTakesIsGood) {
  MadeUpNode made;
  made.libraries["libnccl-net.so"] = good_plugin();
  made.libraries["libnccl.so.2"] = {.path = "/lib/libnccl.so.2", .nccl_version = 22809};
  EXPECT_EQ(plugin(made).state, CheckState::kGood);
  EXPECT_EQ(
      plugin(made).saw,
      "libnccl-net.so (/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so) loads, aws-ofi-nccl 1.18.0, exports "
      "ncclNetPlugin v6 to v11");
}

TEST(PluginCheck, OneThatIsTooOldForNcclIsAtFault) {
  MadeUpNode made;
  made.libraries["libnccl-net.so"] = good_plugin();
  made.libraries["libnccl-net.so"].net_apis = {4, 5};
  made.libraries["libnccl.so.2"] = {.path = "/lib/libnccl.so.2", .nccl_version = 22809};
  EXPECT_EQ(plugin(made).state, CheckState::kFault);
  EXPECT_THAT(plugin(made).saw, HasSubstr("NCCL 2.28.9 takes v6 to v11"));
  made.libraries["libnccl.so.2"].nccl_version = 21805;
  EXPECT_EQ(plugin(made).state, CheckState::kGood);
}

TEST(PluginCheck, PluginsThatAreOffWasteAnEfaDevice) {
  MadeUpNode made;
  made.node.environment["NCCL_NET_PLUGIN"] = "none";
  EXPECT_EQ(plugin(made).state, CheckState::kNote);
  made.add_efa("rdmap0s6");
  EXPECT_EQ(plugin(made).state, CheckState::kFault);
}

}  // namespace
}  // namespace lockstep::cluster
