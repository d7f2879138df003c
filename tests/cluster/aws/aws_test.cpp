// The AWS command line itself, against a server: that our calls are ones that it takes, and that its answers
// are read right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/capacity_search.h"
#include "lockstep/cluster/eks/down.h"
#include "lockstep/cluster/eks/plan.h"
#include "lockstep/cluster/eks/up.h"
#include "tests/cluster/aws/aws_server.h"
#include "tests/paths.h"

namespace lockstep::cluster::eks {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ClusterSettings settings(const std::string& more = "") {
  return ClusterSettings::parse("image: {reference: \"registry.example/ray@sha256:aa\"}\n" + more,
                                "cluster.yaml");
}

class RealAws : public testing::Test {
 protected:
  void SetUp() override {
    if (!AwsServer::is_installed()) GTEST_SKIP() << "scripts/setup --aws has not been run";
  }
};

TEST_F(RealAws, TakesTheCallsOfPlanUpAndDown) {
  AwsServer server({"us-east-2b"});
  Surroundings surroundings = server.world.surroundings();
  std::vector<std::string> said;
  const Surroundings here{server, [&](const std::string& line) { said.push_back(line); }, surroundings.pause,
                          surroundings.now};
  Aws aws(server, "us-east-2");
  const Preflight preflight = look_before(aws, settings(), "2026-01-02");
  EXPECT_NO_THROW(require_no_fault(preflight.checks, "cluster")) << checks_text(preflight.checks);
  EXPECT_THAT(checks_text(preflight.checks),
              AllOf(HasSubstr("account 123456789012"), HasSubstr("g6.12xlarge: 48 vCPUs, 1 EFA"),
                    HasSubstr("96 vCPUs of \"Running On-Demand G and VT instances\", 96 needed"),
                    HasSubstr("1.36, standard support until 2027")));
  EXPECT_EQ(plan_after(preflight).steps.front().exists, "");

  up(preflight, here);
  const auto reservations = our_reservations(aws, "lockstep");
  ASSERT_EQ(reservations.size(), 1U);
  EXPECT_EQ(reservations[0].zone, "us-east-2b");
  const World made = look_at_world(aws, settings());
  EXPECT_EQ(made.cluster_status, "ACTIVE");
  EXPECT_EQ(made.node_groups.at("gpu-workers").status, "ACTIVE");

  const LeftoverSearch search = down(settings(), here);
  EXPECT_THAT(search.found, IsEmpty()) << to_text(search.found);
  EXPECT_THAT(search.not_asked, IsEmpty());
  EXPECT_THAT(our_reservations(aws, "lockstep"), IsEmpty());
  EXPECT_THAT(look_at_world(aws, settings()).stacks, IsEmpty());
  EXPECT_THAT(server.aws({"ec2", "describe-volumes"}), testing::Not(HasSubstr("VolumeId")));
}

TEST_F(RealAws, TellsThatNoZoneHasRoom) {
  AwsServer server({});
  Aws aws(server, "us-east-2");
  const Deployment deployment = assumed_deployment(settings());
  try {
    find_capacity(aws, deployment, {"us-east-2a"}, "2030-01-02T03:04:05Z");
    FAIL();
  } catch (const NoCapacityError& error) {
    EXPECT_THAT(error.what(), HasSubstr("us-east-2a: InsufficientInstanceCapacity"));
  }
}

TEST_F(RealAws, RefusesAReservationThatThereIsNot) {
  AwsServer server({});
  Aws aws(server, "us-east-2");
  EXPECT_THROW(find_reservation(aws, "cr-0123456789abcdef0"), ConfigError);
}

}  // namespace
}  // namespace lockstep::cluster::eks
