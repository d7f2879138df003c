#include "lockstep/cluster/eks/settings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/env_file.h"
#include "lockstep/cluster/eks/plan.h"
#include "lockstep/cluster/eks/settings_keys.h"
#include "lockstep/cluster/eks/settings_rules.h"
#include "tests/paths.h"

namespace lockstep::cluster::eks {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

ClusterSettings parse(const std::string& yaml) { return ClusterSettings::parse(yaml, "cluster.yaml"); }

template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing was refused";
}
std::string refusal_of(const std::string& yaml) {
  return refusal([&] { parse(yaml); });
}

TEST(ClusterSettings, DefaultsAreTheSmallestClusterOfTwoNodes) {
  const ClusterSettings settings = parse("");
  EXPECT_EQ(settings.region, "us-east-2");
  EXPECT_EQ(settings.worker.cpus, 40);
  EXPECT_EQ(settings.worker.memory_gib, 160);
  EXPECT_EQ(settings.effective()["gpu_nodes"]["type"], "g6.12xlarge");
}

TEST(ClusterSettings, DefaultsOfEveryGpuTypeFitIt) {
  for (const InstanceType& type : instance_types()) {
    if (type.gpus == 0) continue;
    EXPECT_NO_THROW(parse(fmt::format("gpu_nodes: {{type: {}}}", type.name))) << type.name;
  }
}

struct BadSettings {
  std::string yaml, words;
};
class Refused : public testing::TestWithParam<BadSettings> {};

TEST_P(Refused, InOneLineThatSaysWhereAndWhat) {
  const std::string said = refusal_of(GetParam().yaml);
  EXPECT_THAT(said, HasSubstr(GetParam().words));
  EXPECT_THAT(said, testing::StartsWith("cluster.yaml"));
  EXPECT_EQ(said.find('\n'), said.npos);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Refused,
    testing::Values(
        BadSettings{"gpu_node: {count: 2}", "unknown key \"gpu_node\": did you mean gpu_nodes?"},
        BadSettings{"gpu_nodes:\n  typ: x",
                    "cluster.yaml:2: unknown key \"gpu_nodes.typ\": did you mean gpu_nodes.type?"},
        BadSettings{"gpu_nodes: {type: p4d.24xlarge, zones: [us-west-2a, us-west-2b]}",
                    "gpu_nodes.zones are us-west-2a and us-west-2b, and EFA does not cross zones"},
        BadSettings{"gpu_nodes: {efa: 2}", "gpu_nodes.efa is 2, and g6.12xlarge has 1 EFA interface"},
        BadSettings{"head: {cpus: 4, memory_gib: 16}", "head.cpus is 4, which does not fit m7i.xlarge"},
        BadSettings{"head: {memory_gib: 16}", "head.memory_gib is 16, which does not fit m7i.xlarge"},
        BadSettings{"gpu_nodes: {type: g6.12xlrge}",
                    "an unknown instance type, \"g6.12xlrge\": did you mean g6.12xlarge?"},
        BadSettings{"gpu_nodes: {type: m7i.xlarge}", "must have GPUs; m7i.xlarge has none"},
        BadSettings{"worker: {memory_gib: 190}",
                    "worker.memory_gib is 190, and g6.12xlarge has about 164 for pods"},
        BadSettings{"name: " + std::string(101, 'a'), "at most 100 long"},
        BadSettings{"name: " + std::string(100, 'a') + "\ngpu_nodes: {name: workers-of-the-lab}",
                    "shorter by 8"},
        BadSettings{"ray_cluster: " + std::string(54, 'a'), "at most 53 long"},
        BadSettings{"region: us-east-1\ngpu_nodes: {zones: [us-west-2a]}",
                    "names us-west-2a, which is not in region us-east-1"},
        BadSettings{"zones: [us-east-2a]", "must be two at least"},
        BadSettings{"zones: [us-east-2a, us-east-2b]\ngpu_nodes: {zones: [us-east-2c]}",
                    "names us-east-2c, and the cluster is in us-east-2a, us-east-2b only"},
        BadSettings{"gpu_nodes: {capacity: capacity_block}", "needs gpu_nodes.reservation"},
        BadSettings{"gpu_nodes: {capacity: spot, reservation: cr-1}",
                    "has no effect with gpu_nodes.capacity: spot"},
        BadSettings{"kubernetes_version: 1.4", "must be text such as \"1.36\"; put it in quotes"},
        BadSettings{"image: {ray_version: \"2.51.0\"}", "token authentication came with 2.52"},
        BadSettings{"storage: {s3: s3://bucket}", "with a prefix"}));

TEST(ClusterSettings, TwoZonesAreAllowedOverTcpWithANote) {
  const auto settings = parse(
      "gpu_nodes: {type: p4d.24xlarge, count: 2, zones: [us-west-2a, us-west-2b]}\nnetwork: {require: any}");
  EXPECT_EQ(settings.region, "us-west-2");
  EXPECT_THAT(notes_on(settings),
              Contains(HasSubstr("us-west-2a and us-west-2b: traffic between zones is TCP")));
}

TEST(Price, OfTheDefaultIsTheSumOfItsItems) {
  const Price price = plan_without_preflight(parse("")).price;
  EXPECT_EQ(fmt::format("{:.4f}", price.dollars_per_hour()), "9.5498");
  ASSERT_EQ(price.items.size(), 4U);
  EXPECT_DOUBLE_EQ(price.items[0].dollars_per_hour, 9.2032);
  EXPECT_DOUBLE_EQ(price.items[1].dollars_per_hour, 0.2016);
}

TEST(Price, SaysWhatItDoesNotKnow) {
  EXPECT_THAT(plan_without_preflight(parse("gpu_nodes: {type: g6.24xlarge}")).price.unknown,
              Contains("2 x g6.24xlarge"));
  EXPECT_THAT(plan_without_preflight(parse("region: eu-west-1")).price.unknown,
              Contains(HasSubstr("eu-west-1")));
}

TEST(Catalogue, EstimatesWhatKubernetesGivesOnANode) {
  EXPECT_EQ(allocatable(*find_instance_type("m7i.xlarge")).milli_cpus, 3920);
  EXPECT_EQ(allocatable(*find_instance_type("m7i.xlarge")).memory_mib, 14162);
  EXPECT_EQ(allocatable(*find_instance_type("g6.12xlarge")).milli_cpus, 47810);
  EXPECT_EQ(allocatable(*find_instance_type("g6.12xlarge")).memory_mib,
            178933 - 10256);  // without huge pages
}

RecipeSettings read_env(const std::string& text) { return settings_in_env_file(text, "env.sh"); }

TEST(EnvFile, OfTheSampleGivesTheSamplesDeployment) {
  const auto settings = ClusterSettings::load(test_data("cluster/env.sh"), {});
  Json expected = parse("name: eks-cluster\ncharts: {kuberay: \"1.4.0\"}\n").effective();
  EXPECT_EQ(settings.effective().dump(2), expected.dump(2));
  EXPECT_EQ(fmt::format("{:.4f}", plan_without_preflight(settings).price.dollars_per_hour()), "9.5498");
}

TEST(EnvFile, EveryVariableHasAKeyThatThereIsOrAPlaceElsewhere) {
  for (const EnvVariable& variable : env_variables()) {
    EXPECT_NE(variable.key.empty(), variable.other.empty()) << variable.name;
    const auto& keys = cluster_keys();
    const auto is_key = [&](const auto& key) { return key.path == variable.key; };
    EXPECT_TRUE(variable.key.empty() || std::any_of(keys.begin(), keys.end(), is_key)) << variable.key;
  }
}

TEST(EnvFile, TakesTheEnvironmentInThePlaceOfADefaultAsAShellDoes) {
  ::setenv("GPU_NODE_COUNT", "4", 1);
  const auto settings =
      read_env("export GPU_NODE_COUNT=${GPU_NODE_COUNT:-2}\nCAPACITY_RESERVATION_ID='cr-1' # mine\n");
  ::unsetenv("GPU_NODE_COUNT");
  EXPECT_EQ(settings.at("gpu_nodes.count").node.Scalar(), "4");
  EXPECT_EQ(settings.at("gpu_nodes.reservation").node.Scalar(), "cr-1");
}

TEST(EnvFile, RefusesWhatItCannotRead) {
  EXPECT_THAT(refusal([] { read_env("A=1\n"); }), HasSubstr("env.sh:1: unknown variable A"));
  EXPECT_THAT(refusal([] { read_env("\nGPU_NODE_TYP=x\n"); }),
              HasSubstr("env.sh:2: unknown variable GPU_NODE_TYP: did you mean GPU_NODE_TYPE?"));
  EXPECT_THAT(refusal([] { read_env("REGION=$(pick)\n"); }), HasSubstr("is not a plain value"));
  EXPECT_THAT(refusal([] { read_env("if true; then\n"); }), HasSubstr("no assignment: if true"));
  EXPECT_THAT(refusal([] { read_env("GPUS_PER_NODE=8\n"); }),
              HasSubstr("GPUS_PER_NODE is 8, and g6.12xlarge has 4"));
  EXPECT_THAT(refusal([] { read_env("NODE_AMI_FAMILY=Bottlerocket\n"); }),
              HasSubstr("must be AmazonLinux2023"));
}

std::string page() {
  std::ifstream file(source_path("docs/cluster.md"));
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ClusterPage, HasARowForEveryKeyWithItsDefaultAndNoOther) {
  const std::string text = page();
  const size_t begin = text.find("## Settings"), end = text.find("## Instance types");
  std::istringstream table(text.substr(begin, end - begin));
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with("| `")) rows[line.substr(3, line.find('`', 3) - 3)] = line;
  }
  for (const auto& key : cluster_keys()) {
    const auto row = rows.extract(key.path);
    ASSERT_FALSE(row.empty()) << key.path << " is not on the page";
    const Json value = key.field.write(ClusterSettings());
    const std::string shown =
        value.is_null() ? "–" : "`" + (value.is_string() ? value.get<std::string>() : value.dump()) + "`";
    EXPECT_THAT(row.mapped(), HasSubstr("| " + shown + " |")) << key.path;
    for (const std::string& choice : key.range.choices)
      EXPECT_THAT(row.mapped(), HasSubstr("`" + choice + "`"));
  }
  EXPECT_THAT(rows, testing::IsEmpty());
}

TEST(ClusterPage, NamesEveryInstanceTypeAndVariable) {
  const std::string text = page();
  for (const InstanceType& type : instance_types()) EXPECT_THAT(text, HasSubstr(std::string(type.name)));
  for (const EnvVariable& variable : env_variables()) EXPECT_THAT(text, HasSubstr("`" + variable.name + "`"));
}

}  // namespace
}  // namespace lockstep::cluster::eks
