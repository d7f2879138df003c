// `lockstep cluster` as a process, with programs of its own in PATH that are a few lines of shell each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "lockstep/base/json.h"
#include "lockstep/base/process.h"
#include "tests/base/temporary_folder.h"
#include "tests/cluster/image/registry_server.h"
#include "tests/paths.h"

namespace lockstep::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void write_program(const std::string& path, const std::string& text) {
  std::ofstream(path)
      << "#!/bin/bash\necho \"$(basename $0) $*\" >>\"$(dirname $0)/log\"\nhere=$(dirname $0)\n"
      << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

// An account in which nothing is but what `up` makes; the cluster takes for ever.
class ClusterPrograms : public testing::Test {
 protected:
  void SetUp() override {
    write_program(folder_ / "aws", R"(
reservation='{"CapacityReservationId":"cr-0a","State":"active","AvailabilityZone":"us-east-2b","InstanceType":"g6.12xlarge","TotalInstanceCount":2,"AvailableInstanceCount":2}'
case "$1 $2" in
  "--version ") echo aws-cli/2.30.1 ;;
  "sts get-caller-identity") echo '{"Account":"1","Arn":"arn:aws:iam::1:user/ann"}' ;;
  "eks describe-cluster") echo 'An error occurred (ResourceNotFoundException) when calling the DescribeCluster operation: none' >&2; exit 254 ;;
  "eks describe-cluster-versions") echo '{"clusterVersions":[{"clusterVersion":"1.36"}]}' ;;
  "ec2 describe-instance-types") echo '{"InstanceTypes":[{"NetworkInfo":{"EfaInfo":{"MaximumEfaInterfaces":1}}}]}' ;;
  "ec2 describe-availability-zones") echo '{"AvailabilityZones":[{"ZoneName":"us-east-2a","State":"available"},{"ZoneName":"us-east-2b","State":"available"}]}' ;;
  "ec2 describe-instance-type-offerings") echo '{"InstanceTypeOfferings":[{"Location":"us-east-2b"}]}' ;;
  "service-quotas get-service-quota") echo '{"Quota":{"Value":1000.0}}' ;;
  "ec2 create-capacity-reservation") touch $here/reserved; echo "{\"CapacityReservation\":$reservation}" ;;
  "ec2 cancel-capacity-reservation") rm $here/reserved; echo '{"Return":true}' ;;
  "ec2 describe-capacity-reservations")
    if [ -e $here/reserved ]; then echo "{\"CapacityReservations\":[$reservation]}"; else echo '{}'; fi ;;
  *) echo '{}' ;;
esac
)");
    write_program(folder_ / "eksctl", R"(
case "$*" in version) echo 0.231.0 ;; *--dry-run) cat ;; *) cat >/dev/null; exec sleep 1000 ;; esac
)");
    write_program(folder_ / "helm", "echo v4.1.4\n");
    write_program(folder_ / "kubectl", "echo '{\"gitVersion\":\"v1.35.2\"}'\n");
    // A registry that does not answer: of an image by digest that is no more than a note.
    std::ofstream(folder_ / "cluster.yaml")
        << "image: {reference: \"127.0.0.1:1/ray@sha256:" + std::string(64, 'a') + "\"}\n";
  }

  std::string log() const { return read_file(folder_ / "log"); }
  Process start(const std::vector<std::string>& arguments) {
    ProcessOptions options{.argv = {build_path("bin/lockstep"), "cluster"}};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment["PATH"] = folder_.path() + ":/usr/bin:/bin";
    options.standard_output = options.standard_error = Output::file(folder_ / "output");
    return Process::start(options);
  }
  std::string output() const { return read_file(folder_ / "output"); }

  TemporaryFolder folder_;
};

TEST_F(ClusterPrograms, UpWithoutYesPrintsThePriceAndMakesNothing) {
  EXPECT_EQ(start({"up", folder_ / "cluster.yaml"}).wait().code, 2);
  EXPECT_THAT(
      output(),
      AllOf(HasSubstr("2 x g6.12xlarge in us-east-2b"), HasSubstr("9.5498  dollars an hour"),
            HasSubstr("nothing was made, since it would bill 9.5498 dollars an hour: --yes makes it")));
  EXPECT_THAT(log(), Not(HasSubstr("create-capacity-reservation")));
}

TEST_F(ClusterPrograms, UpTellsAScriptWhyItIsNotReady) {
  ProcessOptions options{
      .argv = {build_path("bin/lockstep"), "cluster", "up", folder_ / "cluster.yaml", "--json"}};
  options.environment["PATH"] = folder_.path() + ":/usr/bin:/bin";
  options.standard_output = Output::file(folder_ / "document");
  options.standard_error = Output::file(folder_ / "output");
  EXPECT_EQ(Process::start(options).wait().code, 2);
  const Json document = Json::parse(read_file(folder_ / "document"));
  EXPECT_EQ(document.at("ready"), false);
  EXPECT_THAT(document.at("why_not").get<std::string>(), HasSubstr("--yes makes it"));
  EXPECT_EQ(document.at("gpus"), 8);
  EXPECT_NEAR(document.at("price").at("dollars_per_hour").get<double>(), 9.5498, 1e-9);
}

// A tag in a real registry; of the second image there is no variant for the nodes.
TEST_F(ClusterPrograms, PlanNamesTheDigestThatATagHas) {
  const TemporaryFolder images;
  cluster::RegistryServer registry(images.path());
  const auto pushed = registry.push({}, "v1.0");
  registry.push({.architecture = "arm64"}, "v1.0-arm");
  const auto plan = [&](const std::string& tag) {
    return start({"plan", folder_ / "cluster.yaml",
                  "image.reference=" + registry.address() + "/train/ray:" + tag, "--out", folder_ / "files"})
        .wait()
        .code;
  };
  EXPECT_EQ(plan("v1.0"), 0);
  const std::string pinned = registry.image(pushed.manifest).text();
  EXPECT_THAT(output(), HasSubstr("  image " + pinned));
  EXPECT_THAT(read_file(folder_ / "files/raycluster.yaml"), HasSubstr("image: " + pinned));
  EXPECT_EQ(plan("v1.7"), 2);
  EXPECT_THAT(output(), HasSubstr("has no tag v1.7"));
  EXPECT_EQ(plan("v1.0-arm"), 2);
  EXPECT_THAT(output(), HasSubstr("is for linux/arm64, not for linux/amd64"));
}

TEST_F(ClusterPrograms, CtrlCWhileTheClusterIsMadeCancelsTheReservation) {
  Process up = start({"up", folder_ / "cluster.yaml", "--yes"});
  while (log().find("eksctl create cluster -f - --write-kubeconfig=false") == std::string::npos) {
    ASSERT_FALSE(up.poll()) << output();
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "reserved"));
  up.signal(SIGINT);
  EXPECT_EQ(up.wait().code, 130) << output();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "reserved"));
  EXPECT_THAT(output(), AllOf(HasSubstr("no reservation of this cluster is left"),
                              HasSubstr("interrupted while running eksctl create cluster")));
}

TEST_F(ClusterPrograms, DownFindsAForgottenReservationByItsTag) {
  std::ofstream(folder_ / "reserved") << "";
  EXPECT_EQ(start({"down", folder_ / "cluster.yaml", "--yes"}).wait().code, 0) << output();
  EXPECT_THAT(log(), HasSubstr("ec2 cancel-capacity-reservation --capacity-reservation-id cr-0a"));
  EXPECT_THAT(output(), HasSubstr("nothing is left (11 kinds asked for)"));
}

TEST_F(ClusterPrograms, DoctorAndStatusNameAReservationThatBillsForNothing) {
  const std::string file = folder_ / "cluster.yaml";
  EXPECT_EQ(start({"doctor", file}).wait().code, 0) << output();
  EXPECT_THAT(
      output(),
      AllOf(HasSubstr("nothing   9 efa-on-nodes         there is no cluster lockstep in us-east-2"),
            HasSubstr("25 checks: 3 ok, 0 faults, 0 that follow, 0 unknown, 22 with nothing to look at")));
  std::ofstream(folder_ / "reserved") << "";
  EXPECT_EQ(start({"doctor", file, "--json"}).wait().code, 2);
  EXPECT_THAT(output(), HasSubstr("cluster doctor: leftovers: cr-0a of 2 x g6.12xlarge is active"));
  EXPECT_EQ(start({"status", file}).wait().code, 8);
  EXPECT_THAT(output(), HasSubstr("cluster status: lockstep is not healthy: there is no cluster"));
  EXPECT_THAT(log(), Not(HasSubstr("create")));
}

// A head with a run's folder; what is run in it is run here.
class ClusterWithAHead : public ClusterPrograms {
 protected:
  void SetUp() override {
    ClusterPrograms::SetUp();
    write_program(folder_ / "kubectl", R"(
case "$1" in
  get) echo '{"items":[{"metadata":{"name":"ray-head-x","labels":{"ray.io/node-type":"head"}}}]}' ;;
  exec) while [ "$1" != -- ]; do shift; done; shift; exec "$@" ;;
  logs) echo "the head's log" ;;
esac
)");
    std::filesystem::create_directories(folder_ / "run/logs");
    std::ofstream(folder_ / "run/logs/g001-rank-003.log") << "first try\n";
    std::ofstream(folder_ / "run/logs/g002-rank-003.log") << "second try\n";
  }
};

TEST_F(ClusterWithAHead, ExecGivesTheCommandsOutputAndItsExitCode) {
  const std::string file = folder_ / "cluster.yaml";
  EXPECT_EQ(start({"exec", file, "--set", "namespace=mine", "--", "sh", "-c", "echo in the pod; exit 3"})
                .wait()
                .code,
            3);
  EXPECT_THAT(output(), HasSubstr("in the pod\n"));
  EXPECT_THAT(log(), HasSubstr("kubectl exec ray-head-x --namespace mine --container ray-head -- sh -c"));
  EXPECT_EQ(start({"exec", file, "--in", "worker-0", "--", "true"}).wait().code, 2);
  EXPECT_THAT(output(),
              HasSubstr("no pod worker-0 in RayCluster ray-train-cluster: there is head (ray-head-x)"));
}

TEST_F(ClusterWithAHead, LogsAreOfThePodOrTheNewestOfARank) {
  const std::string file = folder_ / "cluster.yaml";
  EXPECT_EQ(start({"logs", file}).wait().code, 0);
  EXPECT_THAT(output(), HasSubstr("the head's log\n"));
  EXPECT_EQ(start({"logs", file, "--run", folder_ / "run", "--rank", "3"}).wait().code, 0);
  EXPECT_THAT(output(), AllOf(HasSubstr("second try\n"), Not(HasSubstr("first try"))));
  EXPECT_EQ(start({"logs", file, "--run", folder_ / "run", "--rank", "4"}).wait().code, 8);
  EXPECT_THAT(output(), HasSubstr("no log of rank 004 in "));
}

TEST_F(ClusterPrograms, PlanOfAManifestNamesWhatItWouldDoWithoutAWord) {
  std::ofstream(folder_ / "job.yaml") << "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: a}\n"
                                         "spec: {ttlSecondsAfterFinished: 60}\n";
  EXPECT_EQ(start({"plan", folder_ / "job.yaml"}).wait().code, 2);
  EXPECT_THAT(output(), HasSubstr("no effect without spec.shutdownAfterJobFinishes: true"));
}

}  // namespace
}  // namespace lockstep::cli
