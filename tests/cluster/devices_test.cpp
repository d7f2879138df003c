#include <gmock/gmock.h>

#include "lockstep/cluster/node_checks.h"
#include "made_up_node.h"

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;

constexpr const char* kFiInfo =
    "provider: efa\n    fabric: efa-direct\n    domain: rdmap0s6-rdm\n    version: 203.0\n    type: "
    "FI_EP_RDM\n"
    "provider: efa\n    fabric: efa\n    domain: rdmap0s6-rdm\n    version: 203.0\n    type: FI_EP_RDM\n";

Check verbs(const MadeUpNode& made) { return check_verbs(NetworkDevices::of(made.node)); }
Check provider(const MadeUpNode& made) {
  return check_efa_provider(made.node, NetworkDevices::of(made.node));
}

TEST(VerbsCheck, AMachineWithoutFastNetworkIsNotAtFault) {
  const MadeUpNode made;
  EXPECT_EQ(verbs(made).state, CheckState::kNote);
  EXPECT_EQ(verbs(made).saw, "no EFA or InfiniBand device");
}

TEST(VerbsCheck, DevicesAreToldByTheirVendor) {
  MadeUpNode made;
  made.add_efa("rdmap0s6");
  made.plant("/sys/class/infiniband/mlx5_0/device/vendor", "0x15b3\n");
  EXPECT_EQ(verbs(made).state, CheckState::kGood);
  EXPECT_EQ(verbs(made).saw, "1 EFA (rdmap0s6), 1 InfiniBand or RoCE (mlx5_0); 1 uverbs file");
}

TEST(VerbsCheck, DevicesOfTheHostThatTheContainerMayNotOpenAreAtFault) {
  MadeUpNode made;
  made.plant("/sys/class/infiniband/rdmap0s6/device/vendor", "0x1d0f\n");
  made.plant("/dev/infiniband/rdma_cm");
  EXPECT_EQ(verbs(made).state, CheckState::kFault);
  EXPECT_THAT(verbs(made).fix, HasSubstr("vpc.amazonaws.com/efa"));
}

TEST(EfaProviderCheck, FiInfoIsAskedWhereverItIsInstalled) {
  MadeUpNode made;
  made.add_efa("rdmap0s6");
  EXPECT_EQ(provider(made).state, CheckState::kNote) << "not installed";
  made.programs["/opt/amazon/efa/bin/fi_info"] = {0, kFiInfo};
  EXPECT_EQ(provider(made).state, CheckState::kGood);
  EXPECT_EQ(provider(made).saw, "fi_info lists provider efa, 1 domains, fabric efa-direct too");
}

TEST(EfaProviderCheck, NoProviderIsAtFaultWhereThereIsEfa) {
  MadeUpNode made;
  made.programs["fi_info"] = {61, "fi_getinfo: -61 (No data available)\n"};
  EXPECT_EQ(provider(made).state, CheckState::kGood);
  made.add_efa("rdmap0s6");
  EXPECT_EQ(provider(made).state, CheckState::kFault);
  EXPECT_THAT(provider(made).saw, HasSubstr("exit code 61: fi_getinfo: -61 (No data available)"));
}

}  // namespace
}  // namespace lockstep::cluster
