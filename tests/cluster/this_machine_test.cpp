// All checks, on the machine that runs the tests: whatever it has, they end and say something.
#include <gmock/gmock.h>

#include "lockstep/cluster/node_checks.h"
#include "made_up_node.h"

namespace lockstep::cluster {
namespace {

TEST(CheckNode, EveryCheckSaysWhatItSawWhyItMattersAndTheFixOfAFault) {
  MadeUpNode faulty;
  faulty.add_efa("rdmap0s6");
  faulty.node.environment = {{"NCCL_SOCKET_IFNAME", "ens5"}, {"NCCL_NET_PLUGIN", "ofi"}};
  for (const auto& checks :
       {check_node(Node::this_machine(), std::nullopt), check_node(faulty.node, std::nullopt)}) {
    EXPECT_EQ(checks.size(), 12U);
    for (const Check& check : checks) {
      EXPECT_NE(check.saw, "") << check.name;
      EXPECT_NE(check.why, "") << check.name;
      if (check.state == CheckState::kFault) {
        EXPECT_NE(check.fix, "") << check.name;
      }
    }
  }
}

TEST(CheckNode, LibfabricIsFoundWhereEfasInstallerPutsIt) {
  MadeUpNode made;
  made.plant("/opt/amazon/efa/lib64/libfabric.so.1");
  made.libraries[made.node.root + "/opt/amazon/efa/lib64/libfabric.so.1"] = {.path = "x",
                                                                             .fabric_version = 2 << 16 | 1};
  const auto checks = check_node(made.node, std::nullopt);
  EXPECT_THAT(checks.at(10).saw, testing::HasSubstr("libfabric 2.1"));
}

TEST(CheckNode, NcclIsTheOneThatTorchBrings) {
  MadeUpNode made;
  made.node.torch_folder = "/site/torch/lib";
  made.plant("/site/torch/lib/libtorch_cpu.so");
  made.plant("/site/nvidia/nccl/lib/libnccl.so.2");
  made.libraries[made.node.root + "/site/torch/lib/../../nvidia/nccl/lib/libnccl.so.2"] = {
      .path = "x", .nccl_version = 22907};
  EXPECT_THAT(check_node(made.node, std::nullopt).at(10).saw, testing::HasSubstr("nccl 2.29.7"));
}

TEST(CheckNode, OfAPlainMachineFindsNoFault) {
  const MadeUpNode made;
  EXPECT_NO_THROW(require_no_fault(check_node(made.node, std::nullopt), "doctor"));
}

}  // namespace
}  // namespace lockstep::cluster
