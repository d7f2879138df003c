// Each fault planted into a cluster in which all is well, and named alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "tests/cluster/doctor/doctor_world.h"
#include "tests/paths.h"

namespace lockstep::cluster::doctor {
namespace {

using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

struct Planted {
  const char* id;
  std::function<void(DoctorWorld&)> plant;
  const char* saw;                        // words of the evidence
  std::vector<std::string> follows = {};  // checks that this fault explains
};

std::string before(const DoctorWorld& world, minutes age) {
  return format_utc(world.now - age).substr(0, 19) + "Z";
}

Json recorded(const std::string& name) {
  std::ifstream file(test_data("kubernetes/" + name + ".json"));
  return Json::parse(file);
}

void add_issue(DoctorWorld& world, const std::string& code, const std::string& message) {
  world.plant("aws eks describe-nodegroup", [=](Json& answer) {
    if (answer["nodegroup"]["amiType"].is_string())
      answer["nodegroup"]["health"]["issues"] = Json::array({{{"code", code}, {"message", message}}});
  });
}

void make_unready(Json& pod) {
  for (Json& condition : pod["status"]["conditions"]) {
    if (condition["type"] == "Ready" || condition["type"] == "ContainersReady") condition["status"] = "False";
  }
}

Json& node_named(Json& nodes, const std::string& name) {
  for (Json& node : nodes["items"]) {
    if (node["metadata"]["name"] == name) return node;
  }
  throw std::runtime_error("no node " + name);
}

Json ray_job(const Json& status) {
  return {{"kind", "RayJob"}, {"metadata", {{"name", "tune"}}}, {"status", status}};
}

// A submitter as KubeRay makes it, after its last try.
Json failed_submitter() {
  return {{"kind", "Job"},
          {"metadata",
           {{"name", "tune"}, {"ownerReferences", Json::array({{{"kind", "RayJob"}, {"name", "tune"}}})}}},
          {"status",
           {{"conditions", Json::array({{{"type", "Failed"},
                                         {"status", "True"},
                                         {"reason", "BackoffLimitExceeded"},
                                         {"message", "Job has reached the specified backoff limit"}}})}}}};
}

std::vector<Planted> planted() {
  return {
      {"gpu-quota",
       [](DoctorWorld& world) {
         add_issue(world, "AsgInstanceLaunchFailures",
                   "Could not launch On-Demand Instances. VcpuLimitExceeded - You have requested more vCPU "
                   "capacity "
                   "than your current vCPU limit of 0 allows");
       },
       "vCPU limit of 0"},
      {"capacity",
       [](DoctorWorld& world) {
         add_issue(
             world, "AsgInstanceLaunchFailures",
             "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have "
             "sufficient g6.12xlarge capacity in the Availability Zone you requested (us-east-2b)");
       },
       "sufficient g6.12xlarge capacity"},
      {"placement-group",
       [](DoctorWorld& world) {
         world.plant("aws ec2 describe-launch-template-versions", [](Json& answer) {
           answer["LaunchTemplateVersions"][0]["LaunchTemplateData"]["Placement"]["GroupName"] =
               "eksctl-group";
         });
         add_issue(world, "AsgInstanceLaunchFailures", "InsufficientInstanceCapacity - no room");
       },
       "in placement group eksctl-group, cr-001 is of none",
       {"capacity"}},
      {"reservation-target",
       [](DoctorWorld& world) {
         world.plant("aws ec2 describe-launch-template-versions", [](Json& answer) {
           answer["LaunchTemplateVersions"][0]["LaunchTemplateData"]["CapacityReservationSpecification"]
                 ["CapacityReservationTarget"] = Json::object();
         });
       },
       "lt-1 of the GPU nodes targets no reservation"},
      {"nodes-join",
       [](DoctorWorld& world) {
         add_issue(world, "NodeCreationFailure", "Instances failed to join the kubernetes cluster");
         world.plant("aws ec2 describe-route-tables",
                     [](Json& answer) { answer["RouteTables"][0]["Routes"][0]["State"] = "blackhole"; });
       },
       "subnet-b goes out by nat-1, which is gone"},
      {"node-image",
       [](DoctorWorld& world) {
         world.plant("aws eks describe-nodegroup",
                     [](Json& answer) { answer["nodegroup"]["amiType"] = "AL2023_x86_64_STANDARD"; });
         world.plant("kubectl get nodes", [](Json& nodes) {
           for (const char* name : {"gpu-0", "gpu-1"})
             node_named(nodes, name)["status"]["allocatable"]["nvidia.com/gpu"] = "0";
         });
         world.logs["kube-system"] =
             "If this is a GPU node, did you configure the NVIDIA Container Toolkit?\n"
             "Failed to initialize NVML: could not load NVML library.\n";
       },
       "could not load NVML library"},
      {"gpu-plugin",
       [](DoctorWorld& world) {
         world.plant("kubectl get daemonsets kube-system",
                     [](Json& sets) { sets = recorded("daemonsets_nowhere"); });
         world.plant("kubectl get nodes", [](Json& nodes) {
           for (const char* name : {"gpu-0", "gpu-1"})
             node_named(nodes, name)["status"]["allocatable"].erase("nvidia.com/gpu");
         });
       },
       "wanted on 0 of 2 GPU nodes",
       {"node-image"}},
      {"head-node",
       [](DoctorWorld& world) {
         world.plant("kubectl get nodes", [](Json& nodes) {
           for (Json& condition : node_named(nodes, "system-0")["status"]["conditions"]) {
             if (condition["type"] == "DiskPressure")
               condition = {{"type", "DiskPressure"},
                            {"status", "True"},
                            {"reason", "KubeletHasDiskPressure"},
                            {"message", "kubelet has disk pressure"}};
           }
         });
         world.plant("kubectl get pods ray-train", [](Json& pods) {
           DoctorWorld::head(pods)["status"] = {
               {"phase", "Failed"},
               {"reason", "Evicted"},
               {"message", "The node was low on resource: ephemeral-storage."}};
         });
       },
       "system-0 has DiskPressure: kubelet has disk pressure",
       {"head-memory"}},
      {"efa-on-nodes",
       [](DoctorWorld& world) {
         world.plant("kubectl get nodes", [](Json& nodes) {
           node_named(nodes, "gpu-1")["status"]["allocatable"]["vpc.amazonaws.com/efa"] = "0";
         });
         world.plant("kubectl get daemonsets kube-system", [](Json& sets) {
           for (Json& set : sets["items"]) {
             if (set["metadata"]["name"] == "aws-efa-k8s-device-plugin")
               set["spec"]["template"]["spec"]["tolerations"] =
                   Json::array({{{"key", "aws.amazon.com/efa"}, {"operator", "Exists"}}});
           }
         });
       },
       "gpu-1 gives 0 vpc.amazonaws.com/efa, 1 wanted"},
      {"efa-in-pods",
       [](DoctorWorld& world) {
         world.plant("kubectl get pods ray-train", [](Json& pods) {
           DoctorWorld::worker(pods)["spec"]["containers"][0]["resources"]["limits"].erase(
               "vpc.amazonaws.com/efa");
         });
         world.network_log =
             "w:1:2 [0] NCCL INFO NET/OFI No eligible providers were found\n"
             "w:1:2 [0] NCCL INFO Using network Socket\n";
       },
       "has no limit of vpc.amazonaws.com/efa",
       {"network-in-use"}},
      {"network-in-use",
       [](DoctorWorld& world) {
         world.network_log =
             "w:1:2 [0] NCCL INFO NET/OFI aws-ofi-nccl initialization failed\n"
             "w:1:2 [0] NCCL INFO Using network Socket\n";
       },
       "Using network Socket; before it: w:1:2 [0] NCCL INFO NET/OFI aws-ofi-nccl initialization failed"},
      {"network-plugin",
       [](DoctorWorld& world) {
         world.machine.libraries["libnccl-net-ofi.so"] = {
             .path = "",
             .error = "libcudart.so.13: cannot open shared object file: No such file or directory"};
         world.network_log = "w:1:2 [0] NCCL INFO Using network Socket\n";
       },
       "libcudart.so.13",
       {"network-in-use"}},
      {"security-group",
       [](DoctorWorld& world) {
         world.plant("aws ec2 describe-security-groups", [](Json& answer) {
           answer["SecurityGroups"][0]["IpPermissionsEgress"] =
               Json::array({{{"IpProtocol", "-1"},
                             {"IpRanges", Json::array({{{"CidrIp", "0.0.0.0/0"}}})},
                             {"UserIdGroupPairs", Json::array()}}});
         });
       },
       "sg-cluster: all from itself, not all to itself"},
      {"locked-memory",
       [](DoctorWorld& world) {
         world.machine.plant("/proc/self/limits",
                             "Max locked memory         8388608              8388608              bytes\n");
       },
       "limit 8.00 MiB"},
      {"interfaces",
       [](DoctorWorld& world) {
         world.network_log =
             "w:1:2 [0] NCCL INFO Bootstrap: Using pod-id-link0:169.254.170.23<0>\n" + world.network_log;
       },
       "pod-id-link0"},
      {"driver", [](DoctorWorld& world) { world.machine.driver.version = 12080; },
       "libcuda supports CUDA 12.8"},
      {"huge-pages",
       [](DoctorWorld& world) {
         world.plant("kubectl get pods ray-train", [](Json& pods) {
           DoctorWorld::worker(pods)["spec"]["containers"][0]["resources"]["limits"]["hugepages-2Mi"] =
               "5120Mi";
         });
       },
       "asks for 5120Mi of hugepages-2Mi, and gpu-0, gpu-1 give none"},
      {"head-reached",
       [](DoctorWorld& world) {
         const std::string since = before(world, minutes(4));
         world.plant("kubectl get pods ray-train", [=](Json& pods) {
           Json& worker = DoctorWorld::worker(pods);
           worker["status"]["phase"] = "Pending";
           worker["status"]["initContainerStatuses"][0]["state"] = {{"running", {{"startedAt", since}}}};
           worker["status"]["containerStatuses"][0]["state"] = {{"waiting", {{"reason", "PodInitializing"}}}};
           make_unready(worker);
         });
       },
       "the head is ready"},
      {"readiness-probe",
       [](DoctorWorld& world) {
         world.plant("kubectl get pods ray-train", [](Json& pods) { make_unready(DoctorWorld::head(pods)); });
         world.plant("kubectl get events ray-train", [](Json& events) {
           const std::string head = recorded("rayclusters")["items"][0]["status"]["head"]["podName"];
           events["items"].push_back(
               {{"reason", "Unhealthy"},
                {"involvedObject", {{"kind", "Pod"}, {"name", head}}},
                {"message", "Readiness probe failed: bash: line 1: wget: command not found"}});
         });
       },
       "wget: command not found; rayVersion is 2.58.0"},
      {"head-memory",
       [](DoctorWorld& world) {
         world.plant("kubectl get pods ray-train", [](Json& pods) {
           DoctorWorld::head(pods)["status"]["containerStatuses"][0]["lastState"] = {
               {"terminated",
                {{"reason", "OOMKilled"}, {"exitCode", 137}, {"finishedAt", "2026-01-02T03:04:05Z"}}}};
         });
       },
       "was killed for memory at 2026-01-02T03:04:05Z; its limit is 10Gi"},
      {"shared-memory",
       [](DoctorWorld& world) {
         world.plant("kubectl get pods ray-train", [](Json& pods) {
           Json& mounts = DoctorWorld::worker(pods, 1)["spec"]["containers"][0]["volumeMounts"];
           for (auto mount = mounts.begin(); mount != mounts.end(); ++mount) {
             if ((*mount)["mountPath"] == "/dev/shm") {
               mounts.erase(mount);
               break;
             }
           }
         });
         world.machine.shared_memory_bytes = int64_t{64} << 20;
       },
       "mounts no memory at /dev/shm"},
      {"job-status",
       [](DoctorWorld& world) {
         world.plant("kubectl get rayjobs ray-train", [](Json& jobs) {
           jobs["items"].push_back(ray_job({{"jobDeploymentStatus", "Failed"},
                                            {"jobStatus", "RUNNING"},
                                            {"jobId", "tune-x"},
                                            {"reason", "SubmissionFailed"}}));
         });
         world.plant("kubectl get jobs ray-train",
                     [](Json& jobs) { jobs["items"].push_back(failed_submitter()); });
       },
       "RayJob tune is Failed (SubmissionFailed), and its job tune-x is RUNNING"},
      {"job-submitter",
       [](DoctorWorld& world) {
         world.plant("kubectl get rayjobs ray-train", [](Json& jobs) {
           jobs["items"].push_back(
               ray_job({{"jobDeploymentStatus", "Failed"}, {"reason", "SubmissionFailed"}}));
         });
         world.plant("kubectl get jobs ray-train",
                     [](Json& jobs) { jobs["items"].push_back(failed_submitter()); });
       },
       "submitter tune failed: Job has reached the specified backoff limit"},
      {"ray-definitions",
       [](DoctorWorld& world) {
         world.plant("kubectl get deployments kuberay-operator", [](Json& deployments) {
           deployments["items"][0]["spec"]["template"]["spec"]["containers"][0]["image"] =
               "quay.io/kuberay/operator:v1.6.2";
         });
       },
       "operator 1.6.2, and the definition of RayClusters knows no authOptions, upgradeStrategy"},
      {"leftovers",
       [](DoctorWorld& world) {
         const std::string since = before(world, minutes(30));
         world.plant("kubectl get rayclusters ray-train", [=](Json& clusters) {
           clusters["items"][0]["metadata"]["deletionTimestamp"] = since;
           clusters["items"][0]["metadata"]["finalizers"] =
               Json::array({"ray.io/gcs-ft-redis-cleanup-finalizer"});
         });
       },
       "is being deleted since"},
  };
}

TEST(ClusterDoctor, FindsNothingWrongWhereNothingIs) {
  DoctorWorld world;
  const auto findings = world.diagnose();
  EXPECT_THAT(DoctorWorld::ids(findings, FindingState::kFault), IsEmpty()) << to_text(findings);
  EXPECT_THAT(DoctorWorld::ids(findings, FindingState::kUnknown), IsEmpty()) << to_text(findings);
  EXPECT_THAT(DoctorWorld::ids(findings, FindingState::kNothing), ElementsAre("job-status", "job-submitter"));
  EXPECT_NO_THROW(require_healthy(findings));
}

TEST(ClusterDoctor, NamesEachFaultAlone) {
  const auto faults = planted();
  ASSERT_EQ(faults.size(), all_checks().size());
  for (size_t i = 0; i < faults.size(); ++i) {
    const Planted& fault = faults[i];
    SCOPED_TRACE(fault.id);
    EXPECT_EQ(all_checks()[i].id, fault.id);
    EXPECT_EQ(all_checks()[i].number, static_cast<int>(i + 1));
    DoctorWorld world;
    fault.plant(world);
    const auto findings = world.diagnose();
    EXPECT_THAT(DoctorWorld::ids(findings, FindingState::kFault), ElementsAre(fault.id)) << to_text(findings);
    EXPECT_THAT(DoctorWorld::ids(findings, FindingState::kUnknown), IsEmpty()) << to_text(findings);
    EXPECT_EQ(DoctorWorld::ids(findings, FindingState::kFollows), fault.follows) << to_text(findings);
    EXPECT_THAT(findings[i].saw, HasSubstr(fault.saw));
    EXPECT_FALSE(findings[i].cause.empty() || findings[i].fix.empty()) << to_text(findings);
  }
}

const Finding& finding_of(const std::vector<Finding>& findings, const std::string& id) {
  for (const Finding& finding : findings) {
    if (finding.id == id) return finding;
  }
  throw std::runtime_error("no check " + id);
}

TEST(ClusterDoctor, WhatCannotBeAskedIsUnknownAndSaysWhy) {
  DoctorWorld world;
  world.image_has_lockstep = false;
  world.refuse(
      "aws ec2 describe-instances",
      "\nAn error occurred (UnauthorizedOperation) when calling the DescribeInstances operation: no right\n");
  world.refuse("kubectl get rayjobs ray-train",
               "error: the server doesn't have a resource type \"rayjobs\"\n");
  const auto findings = world.diagnose();
  EXPECT_THAT(DoctorWorld::ids(findings, FindingState::kFault), IsEmpty()) << to_text(findings);
  EXPECT_THAT(DoctorWorld::ids(findings, FindingState::kUnknown),
              ElementsAre("efa-in-pods", "network-plugin", "security-group", "locked-memory", "interfaces",
                          "driver", "shared-memory", "job-status", "job-submitter", "leftovers"));
  EXPECT_THAT(finding_of(findings, "driver").saw, HasSubstr("has no program lockstep"));
  EXPECT_THAT(finding_of(findings, "security-group").saw, HasSubstr("UnauthorizedOperation"));
  EXPECT_THAT(finding_of(findings, "job-status").saw, HasSubstr("doesn't have a resource type"));
  EXPECT_THAT([&] { require_healthy(findings); },
              ThrowsMessage<CommandError>(HasSubstr("10 of 25 checks could not be made: efa-in-pods: pod ")));
}

TEST(ClusterDoctor, OneThatKubernetesDoesNotLetInKnowsNothingOfTheInside) {
  DoctorWorld world;
  world.refuse("aws eks update-kubeconfig", "You must be logged in\n");
  const auto findings = world.diagnose();
  EXPECT_EQ(finding_of(findings, "gpu-quota").state, FindingState::kGood);
  EXPECT_EQ(finding_of(findings, "gpu-plugin").state, FindingState::kUnknown);
  EXPECT_THAT(finding_of(findings, "gpu-plugin").saw, HasSubstr("You must be logged in"));
}

TEST(ClusterDoctor, WithoutAClusterOnlyTheAccountIsLookedAt) {
  DoctorWorld world;
  world.aws = eks::FakeWorld();
  world.aws.gpu_quota = 48;
  world.aws.volumes = {"vol-1"};
  const auto findings = world.diagnose();
  EXPECT_THAT(DoctorWorld::ids(findings, FindingState::kFault), ElementsAre("gpu-quota", "leftovers"));
  EXPECT_THAT(finding_of(findings, "gpu-quota").saw, HasSubstr("48 vCPUs of"));
  EXPECT_THAT(finding_of(findings, "leftovers").saw, HasSubstr("the cluster is gone, and left volume vol-1"));
  EXPECT_EQ(finding_of(findings, "gpu-plugin").saw, "there is no cluster lockstep in us-east-2");
}

TEST(ClusterDoctor, ARolledBackStackStillTellsWhyThereAreNoNodes) {
  DoctorWorld world;
  world.aws.node_groups.erase("gpu-workers");
  world.aws.reservations.at(0).used = 0;
  world.aws.stacks["eksctl-lockstep-nodegroup-gpu-workers"] = "ROLLBACK_COMPLETE";
  world.plant("aws cloudformation describe-stack-events", [](Json& answer) {
    answer = {{"StackEvents",
               Json::array({{{"ResourceStatus", "CREATE_FAILED"},
                             {"ResourceStatusReason", "InsufficientInstanceCapacity: no g6.12xlarge"}}})}};
  });
  const auto findings = world.diagnose();
  EXPECT_EQ(finding_of(findings, "capacity").saw, "InsufficientInstanceCapacity: no g6.12xlarge");
  EXPECT_THAT(finding_of(findings, "leftovers").saw, HasSubstr("cr-001 of 2 x g6.12xlarge is active"));
}

TEST(ClusterDoctor, TellsTheCausesOfNodesWithoutEfaApart) {
  const auto cause = [](const std::function<void(DoctorWorld&)>& plant) {
    DoctorWorld world;
    world.plant("kubectl get nodes", [](Json& nodes) {
      node_named(nodes, "gpu-0")["status"]["allocatable"].erase("vpc.amazonaws.com/efa");
    });
    plant(world);
    return finding_of(world.diagnose(), "efa-on-nodes").cause;
  };
  EXPECT_THAT(cause([](DoctorWorld& world) {
                world.plant("aws ec2 describe-instances", [](Json& answer) {
                  answer["Reservations"][0]["Instances"][0]["NetworkInterfaces"][0]["InterfaceType"] =
                      "interface";
                });
              }),
              HasSubstr("launched without"));
  EXPECT_THAT(cause([](DoctorWorld& world) {
                world.plant("kubectl get daemonsets kube-system",
                            [](Json& sets) { sets["items"] = Json::array(); });
              }),
              HasSubstr("no DaemonSet aws-efa-k8s-device-plugin"));
  EXPECT_THAT(cause([](DoctorWorld&) {}), HasSubstr("may not know g6.12xlarge"));
}

// To `lockstep doctor node` a machine without them is as good as another.
TEST(ClusterDoctor, AWorkerWithoutDeviceOrDriverIsAtFault) {
  MadeUpNode bare;
  DoctorWorld world;
  world.machine.node.run = bare.node.run;
  world.machine.node.root = bare.node.root;
  world.machine.driver = bare.driver;
  const auto findings = world.diagnose();
  EXPECT_THAT(DoctorWorld::ids(findings, FindingState::kFault), ElementsAre("efa-in-pods", "driver"));
  EXPECT_THAT(finding_of(findings, "efa-in-pods").saw, HasSubstr("no EFA or InfiniBand device"));
  EXPECT_THAT(finding_of(findings, "driver").saw, HasSubstr("no GPU driver"));
}

TEST(ClusterDoctor, AFaultOfTheNetworkIsExitCode5AndOthersAre2) {
  Finding machine = fault("no room", "a quota", "ask");
  machine.id = "gpu-quota";
  Finding network = fault("no EFA", "a taint", "tolerate it");
  network.id = "efa-on-nodes";
  network.area = CheckArea::kNetwork;
  EXPECT_THAT([&] { require_healthy({machine}); },
              ThrowsMessage<ConfigError>("cluster doctor: gpu-quota: no room. ask"));
  EXPECT_THAT(
      [&] {
        require_healthy({machine, network});
      },
      ThrowsMessage<TransportError>("cluster doctor: gpu-quota: no room. ask (and 1 more)"));
  const Json json = to_json({machine, network});
  EXPECT_EQ(json["faults"], 2);
  EXPECT_EQ(json["checks"][1]["area"], "network");
  EXPECT_EQ(json["checks"][1]["cause"], "a taint");
}

// The page has a row for each check, with its number, id and what makes it a fault.
TEST(ClusterDoctor, ItsPageListsTheChecksAsTheCodeHasThem) {
  std::ifstream file(source_path("docs/commands/cluster.md"));
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const CheckEntry& check : all_checks())
    EXPECT_THAT(page, HasSubstr(fmt::format("| {} | `{}` | {} |", check.number, check.id, check.fault_when)));
}

}  // namespace
}  // namespace lockstep::cluster::doctor
