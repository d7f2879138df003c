#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "lockstep/base/json.h"
#include "lockstep/base/recipe_value.h"
#include "lockstep/base/temporary_folder.h"
#include "lockstep/base/yaml_document.h"
#include "lockstep/cluster/command_runner.h"
#include "lockstep/cluster/eks/plan.h"
#include "lockstep/cluster/manifest/cluster_config.h"
#include "lockstep/cluster/manifest/ray_cluster.h"
#include "lockstep/cluster/manifest/review.h"
#include "lockstep/cluster/manifest/storage.h"
#include "tests/paths.h"

namespace lockstep::cluster::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

eks::Deployment deployment_of(const std::string& file) {
  return eks::assumed_deployment(eks::ClusterSettings::load(test_data("cluster/" + file), {}));
}

Json document(const std::string& yaml) {
  return RecipeType<Json>::read(
      {.key = "", .name = "document", .origin = "x", .node = parse_yaml(yaml, "x")});
}

class Golden : public testing::TestWithParam<const char*> {};

// After a change that is meant:
//   lockstep cluster plan tests/data/cluster/NAME --no-preflight --out tests/data/cluster/NAME.files
TEST_P(Golden, FilesAreAsTheyWere) {
  const std::string folder = test_data("cluster/" + std::string(GetParam()) + ".files");
  std::set<std::string> names;
  for (const ManifestFile& file : eks::all_files(deployment_of(GetParam()))) {
    names.insert(file.name);
    EXPECT_EQ(file.to_text(), text_of(folder + "/" + file.name)) << folder << "/" << file.name;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_TRUE(names.contains(entry.path().filename())) << entry.path() << " is no longer made";
}

INSTANTIATE_TEST_SUITE_P(
    Clusters, Golden, testing::Values("default.yaml", "full.yaml", "existing.yaml", "block.yaml", "env.sh"),
    [](const auto& info) { return std::string(info.param).substr(0, std::string(info.param).find('.')); });

class Sound : public testing::TestWithParam<const char*> {};

TEST_P(Sound, WorkersAreGuaranteedAndCountTheirGpusOnce) {
  const Json ray = ray_cluster(deployment_of(GetParam())).documents.back();
  EXPECT_THAT(faults_in(ray), IsEmpty());
  const Json& head = ray["spec"]["headGroupSpec"];
  const Json& worker = ray["spec"]["workerGroupSpecs"][0];
  EXPECT_TRUE(is_guaranteed(head["template"]));
  EXPECT_TRUE(is_guaranteed(worker["template"]));
  EXPECT_EQ(worker["rayStartParams"]["num-gpus"],
            worker["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]);
}

INSTANTIATE_TEST_SUITE_P(
    Clusters, Sound, testing::Values("default.yaml", "full.yaml", "existing.yaml", "block.yaml", "env.sh"),
    [](const auto& info) { return std::string(info.param).substr(0, std::string(info.param).find('.')); });

TEST(ClusterConfig, ReservationsKeyEndsInCapitals) {
  const std::string text = gpu_nodes_config(deployment_of("full.yaml")).to_text();
  EXPECT_THAT(text, HasSubstr("capacityReservationID: cr-0123456789abcdef0"));
}

TEST(ClusterConfig, TextThatLooksLikeANumberKeepsItsQuotes) {
  EXPECT_THAT(cluster_config(deployment_of("default.yaml")).to_text(), HasSubstr("version: \"1.36\""));
  EXPECT_THAT(ray_cluster(deployment_of("default.yaml")).to_text(), HasSubstr("nvidia.com/gpu: \"4\""));
}

TEST(RayCluster, TokenIsTheOperatorsFrom151On) {
  const Json newer = ray_cluster(deployment_of("default.yaml")).documents.back();
  EXPECT_EQ(newer["spec"]["authOptions"]["mode"], "token");
  const std::string older = ray_cluster(deployment_of("full.yaml")).to_text();
  EXPECT_THAT(older, HasSubstr("RAY_AUTH_MODE"));
  EXPECT_THAT(older, testing::Not(HasSubstr("authOptions")));
}

TEST(BucketPolicy, ReachesThePrefixAndNothingElse) {
  const Json policy = bucket_policy("s3://lab-runs/team/a/", "us-west-2");
  EXPECT_EQ(policy["Statement"][0]["Condition"]["StringLike"]["s3:prefix"], Json({"team/a", "team/a/*"}));
  EXPECT_EQ(policy["Statement"][1]["Resource"], "arn:aws:s3:::lab-runs/team/a/*");
  EXPECT_EQ(bucket_policy("s3://b/c", "cn-north-1")["Statement"][0]["Resource"], "arn:aws-cn:s3:::b");
}

// The step with other folders than the image's, as KubeRay puts it before `ray start`.
std::string library_path_after(const std::string& driver_line, const std::string& library) {
  const TemporaryFolder folder;
  std::ofstream(folder / "version") << driver_line << "\n";
  if (!library.empty()) std::ofstream(folder / library) << "";
  std::string script = forward_compatibility_step();
  const auto put = [&](const std::string& from, const std::string& to) {
    for (size_t at = script.find(from); at != script.npos; at = script.find(from, at + to.size()))
      script.replace(at, from.size(), to);
  };
  put("/usr/local/cuda/compat", folder.path());
  put("/proc/driver/nvidia/version", folder / "version");
  ProcessRunner runner;
  const std::string out = run_or_throw(
      runner, {.argv = {"/bin/bash", "-c", "--", script + " && printf '%s' \"$LD_LIBRARY_PATH\""},
               .env = {{"LD_LIBRARY_PATH", "/before"}}});
  return out == folder.path() + ":/before" ? "put first" : out;
}

TEST(ForwardCompatibility, PutsTheImagesLibraryFirstWhereTheDriverIsOlder) {
  const std::string closed =
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.133.20  Sun Mar 30 06:08:33 UTC 2025";
  const std::string open =
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (a@b)";
  EXPECT_EQ(library_path_after(closed, "libcuda.so.580.65.06"), "put first");
  EXPECT_EQ(library_path_after(open, "libcuda.so.580.65.06"), "/before");
  EXPECT_EQ(library_path_after(closed, ""), "/before");
  EXPECT_EQ(library_path_after("", "libcuda.so.580.65.06"), "/before");
  EXPECT_EQ(forward_compatibility_step().find("$("), std::string::npos) << "Kubernetes expands it";
}

const std::string kJob = R"(
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: tune}
spec:
  ttlSecondsAfterFinished: 120
  rayClusterSpec:
    rayVersion: "2.56.0"
    headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: head}]}}}
    workerGroupSpecs:
    - {groupName: gpu, replicas: 3, minReplicas: 3, maxReplicas: 3, rayStartParams: {num-gpus: "4"},
       template: {spec: {containers: [{name: worker, resources: {limits: {nvidia.com/gpu: "4"}}}]}}}
)";

TEST(Review, TimeToLiveAloneDoesNothing) {
  EXPECT_THAT(faults_in(document(kJob)),
              ElementsAre(HasSubstr(
                  "ttlSecondsAfterFinished has no effect without spec.shutdownAfterJobFinishes: true: 3 GPU "
                  "nodes would go on billing")));
}

TEST(Review, NamesWhatKubeRayWouldTakeWithoutAWord) {
  const auto faults_with = [](const std::string& pointer, const Json& value) {
    Json job = document(kJob);
    job["spec"]["shutdownAfterJobFinishes"] = true;
    job[Json::json_pointer(pointer)] = value;
    return faults_in(job);
  };
  const std::string worker = "/spec/rayClusterSpec/workerGroupSpecs/0";
  EXPECT_THAT(faults_with("/spec/ttlSecondsAfterFinished", 60), IsEmpty());
  EXPECT_THAT(faults_with(worker + "/rayStartParams/num-gpus", "8"),
              ElementsAre(HasSubstr("num-gpus is 8, and its pod has 4")));
  EXPECT_THAT(faults_with(worker + "/rayStartParams/num-cpus", 3),
              ElementsAre(HasSubstr("num-cpus must be text: put 3 in quotes")));
  EXPECT_THAT(faults_with(worker + "/minReplicas", 5),
              ElementsAre(HasSubstr("minReplicas is 5, above maxReplicas 3")));
  EXPECT_THAT(faults_with(worker + "/template/spec/containers", Json::array()),
              ElementsAre(HasSubstr("containers is empty"), HasSubstr("num-gpus")));
  EXPECT_THAT(faults_with("/spec/rayClusterSpec/headGroupSpec/serviceType", "LoadBalancer"),
              ElementsAre(HasSubstr("opens Ray's job server")));
  EXPECT_THAT(faults_with("/metadata/name", std::string(48, 'a')),
              ElementsAre(HasSubstr("KubeRay takes 47")));
  EXPECT_THAT(faults_with("/spec/rayClusterSpec/authOptions", {{"mode", "token"}}), IsEmpty());
}

}  // namespace
}  // namespace lockstep::cluster::manifest
