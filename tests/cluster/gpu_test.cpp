#include <gmock/gmock.h>

#include "lockstep/cluster/node_checks.h"
#include "made_up_node.h"

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;

TEST(DriverCheck, AMachineWithoutAGpuIsNotAtFault) {
  const MadeUpNode made;
  const Check driver = check_driver(made.node, made.driver), gpus = check_gpus(made.node, made.driver);
  EXPECT_EQ(driver.state, CheckState::kNote);
  EXPECT_EQ(gpus.state, CheckState::kNote);
  EXPECT_EQ(gpus.saw, "no GPU: workers train on the CPU");
}

TEST(DriverCheck, ADriverThatFitsIsGoodAndItsGpusAreNamed) {
  MadeUpNode made;
  made.add_gpus(2);
  const Check driver = check_driver(made.node, made.driver);
  EXPECT_EQ(driver.state, CheckState::kGood);
  EXPECT_EQ(driver.saw,
            "kernel module 580.159.03, libcuda supports CUDA 13.0, Lockstep is built for 13.0; forward "
            "compatibility is "
            "not active");
  EXPECT_EQ(check_gpus(made.node, made.driver).saw,
            "2 GPUs: [0000:30:00] NVIDIA L4 24.0 GiB [0000:31:00] NVIDIA L4 24.0 GiB");
}

TEST(DriverCheck, AHostWithGpusWhoseContainerHasNoLibcudaIsAtFault) {
  MadeUpNode made;
  made.add_gpus(1);
  made.driver = {.problem = "libcuda.so.1: cannot open shared object file: No such file or directory"};
  const Check check = check_driver(made.node, made.driver);
  EXPECT_EQ(check.state, CheckState::kFault);
  EXPECT_THAT(check.fix, HasSubstr("nvidia.com/gpu"));
}

TEST(DriverCheck, AnOlderMajorReleaseOfCudaIsAtFault) {
  MadeUpNode made;
  made.add_gpus(1);
  made.driver.version = 12080;
  EXPECT_EQ(check_driver(made.node, made.driver).state, CheckState::kFault);
  made.node.built_for_cuda = 12090;
  EXPECT_EQ(check_driver(made.node, made.driver).state, CheckState::kGood) << "minor versions go together";
}

TEST(DriverCheck, ForwardCompatibilityIsSeenByFolderOrByVersion) {
  MadeUpNode made;
  made.add_gpus(1);
  made.driver.library = "/usr/local/cuda/compat/libcuda.so.580.65.06";
  EXPECT_THAT(check_driver(made.node, made.driver).saw,
              HasSubstr("is active (/usr/local/cuda/compat/libcuda.so.580.65.06)"));
  made.driver.library = "/opt/lib/libcuda.so.580.65.06";
  EXPECT_THAT(check_driver(made.node, made.driver).saw, HasSubstr("forward compatibility is active"));
  made.driver.library = "/opt/lib/libcuda.so.1";
  EXPECT_THAT(check_driver(made.node, made.driver).saw, HasSubstr("not active"))
      << "the file tells no version";
}

TEST(DriverCheck, ForwardCompatibilityThatTheGpuDoesNotTakeIsNamed) {
  MadeUpNode made;
  made.add_gpus(0);
  made.driver.init_error = 804;
  made.driver.problem = "cuInit returned 804 (forward compatibility was attempted on non supported HW)";
  const Check check = check_driver(made.node, made.driver);
  EXPECT_EQ(check.state, CheckState::kFault);
  EXPECT_THAT(check.saw, HasSubstr("cuInit returned 804"));
  EXPECT_THAT(check.fix, HasSubstr("only data-center GPUs"));
}

TEST(GpuCheck, GpusThatAVariableHidesAreANoteAndOthersAFault) {
  MadeUpNode made;
  made.add_gpus(0);
  EXPECT_EQ(check_gpus(made.node, made.driver).state, CheckState::kFault);
  made.node.environment["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_EQ(check_gpus(made.node, made.driver).state, CheckState::kNote);
  EXPECT_THAT(check_gpus(made.node, made.driver).saw, HasSubstr("CUDA_VISIBLE_DEVICES is \"\""));
}

}  // namespace
}  // namespace lockstep::cluster
