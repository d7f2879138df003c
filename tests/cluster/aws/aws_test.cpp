// The AWS command line itself, against a server: that our calls are ones that it takes, and that its answers
// are read right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/cluster/doctor/account_view.h"
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

// Nodes as eksctl makes them: from a launch template, with an interface of EFA and the cluster's group.
TEST_F(RealAws, TellsTheDoctorHowTheNodesAreMade) {
  AwsServer server({"us-east-2b"});
  const Json subnet = Json::parse(server.aws({"ec2", "describe-subnets"}))["Subnets"][0];
  const std::string id = subnet["SubnetId"], vpc = subnet["VpcId"];
  const std::string role = "arn:aws:iam::123456789012:role/nodes";
  const std::string group = Json::parse(server.aws({"ec2", "create-security-group", "--group-name", "nodes",
                                                    "--description", "nodes", "--vpc-id", vpc}))["GroupId"];
  for (const char* way : {"ingress", "egress"})
    server.aws({"ec2", std::string("authorize-security-group-") + way, "--group-id", group,
                "--ip-permissions", "IpProtocol=-1,UserIdGroupPairs=[{GroupId=" + group + "}]"});
  const std::string launch = Json::parse(server.aws(
      {"ec2", "create-launch-template", "--launch-template-name", "nodes", "--launch-template-data",
       R"({"Placement":{"GroupName":"efa"},"CapacityReservationSpecification":)"
       R"({"CapacityReservationTarget":{"CapacityReservationId":"cr-1"}}})"}))["LaunchTemplate"]
                                                                              ["LaunchTemplateId"];
  server.aws({"eks", "create-cluster", "--name", "lockstep", "--role-arn", role, "--resources-vpc-config",
              "subnetIds=" + id, "--kubernetes-version", "1.36"});
  server.aws({"eks", "create-nodegroup", "--cluster-name", "lockstep", "--nodegroup-name", "gpu-workers",
              "--node-role", role, "--subnets", id, "--launch-template", "id=" + launch + ",version=1"});
  server.aws(
      {"ec2", "run-instances", "--image-id", "ami-12c6146b", "--instance-type", "g6.12xlarge",
       "--network-interfaces", "DeviceIndex=0,InterfaceType=efa,SubnetId=" + id + ",Groups=" + group,
       "--tag-specifications",
       "ResourceType=instance,Tags=[{Key=eks:cluster-name,Value=lockstep},{Key=eks:nodegroup-name,Value=gpu-"
       "workers}]"});
  Aws aws(server, "us-east-2");
  const doctor::AccountView view = doctor::look_at_account(aws, assumed_deployment(settings()));
  EXPECT_EQ(view.gpu_quota.need(), 96);
  EXPECT_THAT(view.failures.need(), IsEmpty());
  EXPECT_EQ(view.launch_template.need().placement_group, "efa");
  EXPECT_EQ(view.launch_template.need().reservation, "cr-1");
  ASSERT_EQ(view.instances.need().size(), 1U);
  EXPECT_THAT(view.instances.need()[0].security_groups, testing::ElementsAre(group));
  ASSERT_EQ(view.security_groups.need().size(), 1U);
  EXPECT_TRUE(view.security_groups.need()[0].all_from_itself && view.security_groups.need()[0].all_to_itself);
  EXPECT_TRUE(view.default_routes.answer) << view.default_routes.why_not;
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
