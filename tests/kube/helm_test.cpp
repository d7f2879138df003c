// `lockstep cluster up` and `down` with Helm's own program: it takes our commands and our values as they are.
#include <gmock/gmock.h>

#include <map>

#include "helm_on_bed.h"
#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/down.h"
#include "lockstep/cluster/eks/up.h"

namespace lockstep::kube {
namespace {

using namespace cluster::eks;
using testing::AllOf;
using testing::HasSubstr;

const Json kGpuToleration = {{"effect", "NoSchedule"}, {"key", "nvidia.com/gpu"}, {"operator", "Exists"}};

class HelmItself : public testing::Test {
 protected:
  void SetUp() override {
    bed_.add_program("ray", "echo ' 0.0/8.0 GPU'");
    bed_.add_program("python", "echo 13.0 4");
    const Deployment deployment = assumed_deployment(settings());
    eks_.publish(cluster::manifest::nvidia_plugin(deployment), "plugin");
    eks_.publish(cluster::manifest::efa_plugin(deployment), "plugin");
    eks_.publish(cluster::manifest::kuberay_operator(deployment), "operator");
  }

  static ClusterSettings settings(const std::vector<std::string>& overrides = {}) {
    return ClusterSettings::parse("image: {reference: \"registry.example/train/ray@sha256:" +
                                      std::string(64, 'a') + "\"}\ncharts: {kuberay: \"1.5.0\"}\n",
                                  "cluster.yaml", overrides);
  }
  void bring_up(const ClusterSettings& wanted) {
    Aws aws(eks_, wanted.region);
    up(look_before(aws, wanted, "2026-12-01"), eks_.surroundings());
  }

  // "namespace/release" -> "chart-version, status, revision".
  std::map<std::string, std::string> releases() {
    std::map<std::string, std::string> found;
    for (const Json& one : Json::parse(eks_.helm({"list", "--all-namespaces", "--output", "json"})))
      found[one["namespace"].get<std::string>() + "/" + one["name"].get<std::string>()] =
          one["chart"].get<std::string>() + ", " + one["status"].get<std::string>() + ", " +
          one["revision"].get<std::string>();
    return found;
  }
  Json plugin(const std::string& name) { return bed_.get({"daemonset", name, "--namespace=kube-system"}); }
  std::string operator_uid() {
    return bed_.get({"deployment", "kuberay-operator", "--namespace", kOperatorNamespace})["metadata"]["uid"];
  }

  KubeBed bed_;
  HelmOnBed eks_{bed_};
};

TEST_F(HelmItself, InstallsTheChartsWithOurValuesAndUpgradesThemInPlace) {
  bring_up(settings());
  const std::string space = kOperatorNamespace;
  EXPECT_EQ(releases(),
            (std::map<std::string, std::string>{
                {"kube-system/nvidia-device-plugin", "nvidia-device-plugin-0.20.0, deployed, 1"},
                {"kube-system/aws-efa-k8s-device-plugin", "aws-efa-k8s-device-plugin-v0.5.32, deployed, 1"},
                {space + "/kuberay-operator", "kuberay-operator-1.5.0, deployed, 1"}}));
  for (const char* name : {"nvidia-device-plugin", "aws-efa-k8s-device-plugin"}) {
    const Json set = plugin(name);
    const Json& pod = set["spec"]["template"]["spec"];
    EXPECT_EQ(pod["tolerations"], Json::array({kGpuToleration})) << name;
    EXPECT_EQ(pod["nodeSelector"], (Json{{"kubernetes.io/os", "linux"}, {"nvidia.com/gpu.present", "true"}}))
        << name;
    EXPECT_EQ(set["status"]["desiredNumberScheduled"], 2) << name << " is on the two GPU nodes, and no other";
  }
  const Json deployment = bed_.get({"deployment", "kuberay-operator", "--namespace", space});
  EXPECT_EQ(deployment["spec"]["template"]["spec"]["nodeSelector"]["role"], "system");

  // A second `up` with another version of one chart: releases and what they made stay, and one changes.
  const std::string operator_before = operator_uid();
  const Json efa_before = plugin("aws-efa-k8s-device-plugin"), nvidia_before = plugin("nvidia-device-plugin");
  const ClusterSettings newer = settings({"charts.nvidia_plugin=0.20.1"});
  eks_.publish(cluster::manifest::nvidia_plugin(assumed_deployment(newer)), "plugin");
  bring_up(newer);
  EXPECT_EQ(releases()["kube-system/nvidia-device-plugin"], "nvidia-device-plugin-0.20.1, deployed, 2");
  EXPECT_EQ(releases()["kube-system/aws-efa-k8s-device-plugin"],
            "aws-efa-k8s-device-plugin-v0.5.32, deployed, 2");
  EXPECT_EQ(plugin("aws-efa-k8s-device-plugin")["metadata"]["generation"],
            efa_before["metadata"]["generation"]);
  EXPECT_EQ(plugin("nvidia-device-plugin")["metadata"]["uid"], nvidia_before["metadata"]["uid"]);
  EXPECT_EQ(plugin("nvidia-device-plugin")["metadata"]["generation"], 2);
  EXPECT_EQ(operator_uid(), operator_before);

  // A cluster that was there before keeps the charts, whose nodes may be others' too.
  const auto before = releases();
  down(settings({"existing=true"}), eks_.surroundings());
  EXPECT_EQ(releases(), before);
  EXPECT_TRUE(bed_.get({"rayclusters", "--namespace=ray-train"})["items"].empty());
}

TEST_F(HelmItself, TellsWhichVersionARepositoryLacks) {
  try {
    bring_up(settings({"charts.efa_plugin=v0.5.99"}));
    FAIL() << "there is no such chart";
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("aws-efa-k8s-device-plugin"), HasSubstr("v0.5.99")));
  }
}

}  // namespace
}  // namespace lockstep::kube
