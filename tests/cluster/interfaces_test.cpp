#include <gmock/gmock.h>

#include "lockstep/cluster/node_checks.h"
#include "made_up_node.h"

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;

Check nccl(const std::string& value) {
  MadeUpNode made;
  made.plant("/sys/class/net/docker0/address");
  made.node.environment["NCCL_SOCKET_IFNAME"] = value;
  return check_nccl_interface(made.node);
}

TEST(NcclInterfaceCheck, NamesAreBeginningsUnlessMarkedAsWhole) {
  EXPECT_EQ(nccl("eth").saw, "NCCL_SOCKET_IFNAME is \"eth\": eth0");
  EXPECT_EQ(nccl("eth").state, CheckState::kGood);
  EXPECT_EQ(nccl("=eth").state, CheckState::kFault);
  EXPECT_EQ(nccl("=eth0").state, CheckState::kGood);
  EXPECT_EQ(nccl("ens5,eth0:5000").state, CheckState::kGood) << "a list, with a port";
}

TEST(NcclInterfaceCheck, ANameThatIsNotThereIsAtFaultWithThoseThatAre) {
  EXPECT_EQ(nccl("ens5").state, CheckState::kFault);
  EXPECT_EQ(nccl("ens5").saw,
            "NCCL_SOCKET_IFNAME is \"ens5\", which no interface has: there is docker0, eth0, lo");
}

TEST(NcclInterfaceCheck, AnExcludingListShouldExcludeLoToo) {
  EXPECT_EQ(nccl("^docker0").state, CheckState::kNote);
  EXPECT_EQ(nccl("^docker0").fix, "NCCL_SOCKET_IFNAME=^lo,docker0");
  EXPECT_EQ(nccl("^lo,docker0").state, CheckState::kGood);
  EXPECT_EQ(nccl("^=lo,docker0").saw, "NCCL_SOCKET_IFNAME is \"^=lo,docker0\": eth0");
  EXPECT_EQ(nccl("^lo,docker,eth").state, CheckState::kFault) << "leaves none";
}

TEST(NcclInterfaceCheck, WithoutTheVariableSaysWhatNcclDoes) {
  const MadeUpNode made;
  EXPECT_EQ(check_nccl_interface(made.node).state, CheckState::kGood);
  EXPECT_THAT(check_nccl_interface(made.node).saw,
              HasSubstr("not set: NCCL takes ib*, then any but docker* and lo"));
}

TEST(GlooInterfaceCheck, NamesAreWhole) {
  MadeUpNode made;
  EXPECT_EQ(check_gloo_interface(made.node).state, CheckState::kGood);
  made.node.environment["GLOO_SOCKET_IFNAME"] = "eth";
  EXPECT_EQ(check_gloo_interface(made.node).state, CheckState::kFault);
  made.node.environment["GLOO_SOCKET_IFNAME"] = "eth0";
  EXPECT_EQ(check_gloo_interface(made.node).state, CheckState::kGood);
}

}  // namespace
}  // namespace lockstep::cluster
