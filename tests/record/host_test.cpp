#include "lockstep/record/host.h"

#include <gmock/gmock.h>

namespace lockstep::record {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(RelevantEnvironment, HoldsWhatCanChangeARun) {
  const char* const environment[] = {"HOME=/home/me",
                                     "NCCL_DEBUG=INFO",
                                     "FI_PROVIDER=efa",
                                     "OMP_NUM_THREADS=4",
                                     "MKL_NUM_THREADS=2",
                                     "LOCKSTEP_LOG=debug",
                                     "CUDA_VISIBLE_DEVICES=",
                                     "CUDA_VISIBLE_DEVICES_X=1",
                                     "AWS_REGION=eu-west-1",
                                     "broken",
                                     nullptr};
  EXPECT_THAT(
      relevant_environment(environment),
      ElementsAre(Pair("CUDA_VISIBLE_DEVICES", ""), Pair("FI_PROVIDER", "efa"), Pair("LOCKSTEP_LOG", "debug"),
                  Pair("MKL_NUM_THREADS", "2"), Pair("NCCL_DEBUG", "INFO"), Pair("OMP_NUM_THREADS", "4")));
}

TEST(RelevantEnvironment, WithholdsSecrets) {
  const char* const environment[] = {"LOCKSTEP_HUB_TOKEN=abc",
                                     "LOCKSTEP_S3_SECRET=abc",
                                     "NCCL_KEY=abc",
                                     "LOCKSTEP_PROXY=http://me:abc@proxy:80/",
                                     "NCCL_KEYRING=open",
                                     "LOCKSTEP_HUB=https://host/a:b@c",
                                     nullptr};
  EXPECT_THAT(
      relevant_environment(environment),
      ElementsAre(Pair("LOCKSTEP_HUB", "https://host/a:b@c"), Pair("LOCKSTEP_HUB_TOKEN", "(withheld)"),
                  Pair("LOCKSTEP_PROXY", "(withheld)"), Pair("LOCKSTEP_S3_SECRET", "(withheld)"),
                  Pair("NCCL_KEY", "(withheld)"), Pair("NCCL_KEYRING", "(withheld)")));
}

TEST(HostFacts, SaysWhatThisMachineIs) {
  const HostFacts host = HostFacts::of_this_machine();
  EXPECT_NE(host.hostname, "");
  EXPECT_THAT(host.kernel, testing::StartsWith("Linux "));
  EXPECT_GE(host.num_cpus, 1);
  EXPECT_GT(host.memory_bytes, int64_t{1} << 28);

  const Json json = host.to_json();
  EXPECT_EQ(json["hostname"], host.hostname);
  EXPECT_EQ(json["cpu_model"], host.cpu_model);
  EXPECT_EQ(json["num_cpus"], host.num_cpus);
  EXPECT_EQ(json["memory_bytes"], host.memory_bytes);
}

}  // namespace
}  // namespace lockstep::record
