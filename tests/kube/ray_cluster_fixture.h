// For tests on the RayCluster that `lockstep cluster plan` makes of its default settings: it is ready when a
// test begins, and gone after it.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kube_bed.h"
#include "tests/cli/lockstep_program.h"
#include "tests/paths.h"

namespace lockstep::kube {

constexpr const char* kNamespace = "ray-train";

// The files of a deployment, made by the command. What the operator of this bed does not know is left out.
inline void plan(const std::string& folder) {
  const auto planned = cli::lockstep(
      {"cluster", "plan", test_data("cluster/default.yaml"), "--no-preflight", "--out", folder,
       "charts.kuberay=1.5.0", "image.reference=registry.example/train/ray@sha256:" + std::string(64, 'a')});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
}

class RayClusterOnKubernetes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    KubeBed& bed = KubeBed::shared();
    if (bed.run({"get", "node", "gpu-0"}).exit_code == 0) return;
    bed.add_node("system-0", m7i_xlarge());
    bed.add_node("gpu-0", g6_12xlarge());
    bed.add_node("gpu-1", g6_12xlarge());
  }

  void SetUp() override {
    const TemporaryFolder folder;
    plan(folder.path());
    const auto apply = [&](const std::string& file) {
      bed_.kubectl({"apply", "--validate=strict", "-f", folder / file});
    };
    apply("namespace.yaml");
    bed_.add_namespace(kNamespace);
    apply("raycluster.yaml");
    wait_until_ready();
  }
  void TearDown() override {
    bed_.kubectl({"delete", "rayclusters", "--all", in_});
    bed_.wait_for("all pods to be gone", [&] { return pods().empty(); });
  }

  void wait_until_ready() {
    bed_.wait_for("a ready RayCluster with two workers", [&] {
      const Json clusters = bed_.get({"rayclusters", in_}).at("items");
      return clusters.size() == 1 &&
             clusters[0].value("status", Json::object()).value("state", "") == "ready" &&
             running("worker").size() == 2;
    });
  }
  Json pods() { return bed_.get({"pods", in_}).at("items"); }
  // Names of those that run and are not on their way out. `type`: "head" or "worker".
  std::set<std::string> running(const std::string& type) {
    std::set<std::string> names;
    for (const Json& pod : pods()) {
      if (pod.at("metadata").at("labels").value("ray.io/node-type", "") == type &&
          pod.at("status").value("phase", "") == "Running" &&
          !pod.at("metadata").contains("deletionTimestamp"))
        names.insert(pod.at("metadata").at("name").get<std::string>());
    }
    return names;
  }
  std::set<std::string> nodes_of(const std::string& type) {
    std::set<std::string> nodes;
    for (const Json& pod : pods()) {
      if (pod.at("metadata").at("labels").value("ray.io/node-type", "") == type)
        nodes.insert(pod.at("spec").value("nodeName", "nowhere"));
    }
    return nodes;
  }
  // What the scheduler says of a pod that it cannot place; empty while there is none.
  std::string why_pending() {
    for (const Json& pod : pods()) {
      for (const Json& condition : pod.at("status").value("conditions", Json::array())) {
        if (condition.at("type") == "PodScheduled" && condition.at("status") == "False")
          return condition.value("message", "");
      }
    }
    return "";
  }
  // A pod that asks for one of `resource` on a GPU node.
  void ask_for_one(const std::string& resource) {
    const Json pod = {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", {{"name", "one-more"}}},
        {"spec",
         {{"tolerations", {{{"operator", "Exists"}}}},
          {"containers",
           {{{"name", "c"}, {"image", "x"}, {"resources", {{"limits", {{resource, "1"}}}}}}}}}}};
    bed_.kubectl({"create", in_, "-f", "-"}, pod.dump());
  }
  void remove_it() { bed_.kubectl({"delete", "pod", "one-more", in_}); }

  KubeBed& bed_ = KubeBed::shared();
  const std::string in_ = std::string("--namespace=") + kNamespace;
};

}  // namespace lockstep::kube
