// eksctl's own program, against a server that stands for AWS: its dry run takes what we give it, and prints
// it back whole. That it takes a key does not tell that it understood it: it may drop it in silence.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "lockstep/base/recipe_value.h"
#include "lockstep/base/yaml_document.h"
#include "lockstep/cluster/eks/down.h"
#include "lockstep/cluster/eks/preflight.h"
#include "lockstep/cluster/eks/up.h"
#include "lockstep/cluster/manifest/cluster_config.h"
#include "tests/cluster/aws/aws_server.h"
#include "tests/paths.h"

namespace lockstep::cluster::eks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Json yaml(const std::string& text) {
  return RecipeType<Json>::read(
      {.key = "", .name = "output", .origin = "output", .node = parse_yaml(text, "output")});
}

// Where `printed` has not what `asked` has; what it has beside that is eksctl's own. Lists of things with
// names are compared by name, others from the first on.
std::vector<std::string> lost(const Json& asked, const Json& printed, const std::string& path = "") {
  std::vector<std::string> paths;
  const auto compare = [&](const Json& one, const Json& other, const std::string& key) {
    for (const std::string& inner : lost(one, other, path + "/" + key)) paths.push_back(inner);
  };
  if (asked.is_object() && printed.is_object()) {
    for (const auto& [key, value] : asked.items()) compare(value, printed.value(key, Json()), key);
  } else if (asked.is_array() && printed.is_array() && asked.size() <= printed.size()) {
    for (size_t i = 0; i < asked.size(); ++i) {
      const auto has_its_name = [&](const Json& one) {
        return one.is_object() && one.contains("name") && one["name"] == asked[i]["name"];
      };
      if (!asked[i].is_object() || !asked[i].contains("name")) {
        compare(asked[i], printed[i], std::to_string(i));
        continue;
      }
      const auto found = std::find_if(printed.begin(), printed.end(), has_its_name);
      compare(asked[i], found == printed.end() ? Json() : *found, asked[i]["name"]);
    }
  } else if (asked != printed) {
    paths.push_back(fmt::format("{}: {} instead of {}", path, printed.dump(), asked.dump()));
  }
  return paths;
}

// eksctl itself, for everything that is asked of it; the rest is the server's.
class WithEksctl : public CommandRunner {
 public:
  explicit WithEksctl(AwsServer& server) : server_(server) {}

  CommandResult run(const Command& command) override {
    if (command.argv[0] != "eksctl") return server_.run(command);
    Command real = command;
    real.argv[0] = LOCKSTEP_EKS_TOOLS "/eksctl";
    real.env.merge(server_.environment());
    ProcessRunner runner;
    return runner.run(real);
  }

 private:
  AwsServer& server_;
};

struct Case {
  const char *name, *file;  // of tests/data/cluster
  std::vector<std::string> overrides;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

// The commands to eksctl that a FakeWorld is given, each once.
class Recorder : public CommandRunner {
 public:
  CommandResult run(const Command& command) override {
    if (command.argv[0] == "eksctl") commands.insert(command.argv);
    return world.run(command);
  }
  void bring_up(const ClusterSettings& settings) {
    Aws aws(*this, settings.region);
    up(look_before(aws, settings, "2026-01-02"), surroundings());
  }
  Surroundings surroundings() {
    const Surroundings of_world = world.surroundings();
    return {*this, of_world.say, of_world.pause, of_world.now};
  }

  FakeWorld world;
  std::set<std::vector<std::string>> commands;
};

class Eksctl : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(AwsServer::is_installed()) << "scripts/setup --aws installs it"; }

  CommandResult dry_run(const std::string& config) {
    return eksctl_.run({.argv = {"eksctl", "create", "cluster", "-f", "-", "--dry-run"}, .input = config});
  }

  // A VPC of one's own is one that is there.
  void put_vpc(ClusterSettings& settings) {
    const Json subnets = Json::parse(server_.aws({"ec2", "describe-subnets"}))["Subnets"];
    settings.vpc.id = subnets[0]["VpcId"];
    for (auto& [zone, id] : settings.vpc.private_subnets) {
      for (const Json& subnet : subnets)
        if (subnet["AvailabilityZone"] == zone) id = subnet["SubnetId"];
    }
  }

  AwsServer server_{{"us-east-2b"}};
  WithEksctl eksctl_{server_};
};

class EksctlConfig : public Eksctl, public testing::WithParamInterface<Case> {};

TEST_P(EksctlConfig, IsTakenAndLosesNothing) {
  ClusterSettings settings =
      ClusterSettings::load(test_data(std::string("cluster/") + GetParam().file), GetParam().overrides);
  if (!settings.vpc.id.empty()) put_vpc(settings);
  settings.existing = false;
  const manifest::ManifestFile config = manifest::whole_config(assumed_deployment(settings));
  const CommandResult ran = dry_run(config.to_text());
  ASSERT_EQ(ran.exit_code, 0) << ran.err << ran.out << config.to_text();
  EXPECT_THAT(lost(config.documents[0], yaml(ran.out)), IsEmpty()) << ran.out;
}

INSTANTIATE_TEST_SUITE_P(
    Made, EksctlConfig,
    testing::Values(
        Case{"Default", "default.yaml", {}}, Case{"ReservationS3AndFsx", "full.yaml", {}},
        Case{"CapacityBlockInAVpc", "block.yaml", {}}, Case{"Environment", "env.sh", {}},
        Case{"SpotOverTcp", "existing.yaml", {}},
        Case{"SpotInTwoZones", "existing.yaml", {"gpu_nodes.zones=[us-east-2a, us-east-2b]"}},
        Case{"OnDemand", "default.yaml", {"gpu_nodes.capacity=on_demand"}},
        Case{"OtherTypes", "default.yaml", {"gpu_nodes.type=p4d.24xlarge", "system_nodes.type=m7i.2xlarge"}},
        Case{"NoNat", "default.yaml", {"vpc.nat=none"}},
        Case{"NatInEveryZone", "default.yaml", {"vpc.nat=highly_available"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Eksctl, DropsAReservationUnderAnotherKeyInSilence) {
  const ClusterSettings settings = ClusterSettings::load(test_data("cluster/full.yaml"), {});
  const Json asked = manifest::whole_config(assumed_deployment(settings)).documents[0];
  std::string text = asked.dump();
  text.replace(text.find("ReservationID"), 13, "ReservationId");
  const CommandResult ran = dry_run(text);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(lost(asked, yaml(ran.out)),
              ElementsAre(HasSubstr("/managedNodeGroups/gpu-workers/capacityReservation")));
}

// The whole look before `up`, with a reservation that is there.
TEST_F(Eksctl, PreflightSeesThatEksctlTakesTheSettingsOver) {
  const Json made = Json::parse(
      server_.aws({"ec2", "create-capacity-reservation", "--instance-type", "g6.12xlarge",
                   "--instance-platform", "Linux/UNIX", "--availability-zone", "us-east-2b",
                   "--instance-count", "2", "--instance-match-criteria", "targeted", "--end-date-type",
                   "limited", "--end-date", "2030-01-02T03:04:05Z", "--tag-specifications",
                   "ResourceType=capacity-reservation,Tags=[{Key=who,Value=another}]"}));
  const std::string id = made["CapacityReservation"]["CapacityReservationId"];
  const ClusterSettings settings =
      ClusterSettings::load(test_data("cluster/default.yaml"), {"gpu_nodes.reservation=" + id});
  Aws aws(eksctl_, settings.region);
  const std::string text = checks_text(look_before(aws, settings, "2026-01-02").checks);
  EXPECT_THAT(text, HasSubstr("eksctl 0.215.0"));
  EXPECT_THAT(text, HasSubstr("takes the generated settings (dry run)"));
}

TEST_F(Eksctl, PreflightTellsWhyEksctlRefuses) {
  const ClusterSettings settings =
      ClusterSettings::load(test_data("cluster/default.yaml"), {"kubernetes_version=\"1.20\""});
  Aws aws(eksctl_, settings.region);
  EXPECT_THAT(
      checks_text(look_before(aws, settings, "2026-01-02").checks),
      HasSubstr("refuses the generated settings: Error: resolving cluster version: invalid version, 1.20"));
}

// Its help for a command comes only if it knows every option before it.
TEST_F(Eksctl, KnowsEveryOptionThatItIsGivenByUpAndDown) {
  const auto settings = [](const std::string& more) {
    return ClusterSettings::parse(
        "image: {reference: \"registry.example/ray@sha256:" + std::string(64, 'a') + "\"}\n" + more,
        "cluster.yaml");
  };
  Recorder fresh, half_made, failed, existing;
  fresh.bring_up(settings(""));
  fresh.world.kubernetes.ray_gpus = 4;  // of one node
  fresh.bring_up(settings("gpu_nodes: {count: 1}"));
  down(settings(""), fresh.surroundings());
  half_made.world.cluster_status = "ACTIVE";
  half_made.bring_up(settings("storage: {s3: s3://runs/a}"));
  failed.world.cluster_status = "FAILED";
  failed.bring_up(settings(""));
  existing.world.cluster_status = "ACTIVE";
  existing.world.node_groups["gpu-workers"] = {.status = "CREATE_FAILED", .reservation = "", .desired = 2};
  existing.bring_up(settings("existing: true\nstorage: {s3: s3://runs/a}"));
  down(settings("existing: true\nstorage: {s3: s3://runs/a}"), existing.surroundings());

  std::set<std::string> verbs;
  for (const Recorder* recorder : {&fresh, &half_made, &failed, &existing}) {
    for (std::vector<std::string> argv : recorder->commands) {
      if (argv[1] == "version") continue;
      verbs.insert(argv[1] + " " + argv[2]);
      argv.emplace_back("--help");
      const CommandResult ran = eksctl_.run({.argv = argv});
      EXPECT_EQ(ran.exit_code, 0) << command_line({.argv = argv}) << "\n" << ran.err;
      EXPECT_THAT(ran.out, HasSubstr("Usage: eksctl " + argv[1] + " " + argv[2]));
    }
  }
  EXPECT_THAT(verbs, UnorderedElementsAre("create cluster", "create nodegroup", "create addon",
                                          "create iamserviceaccount", "utils associate-iam-oidc-provider",
                                          "scale nodegroup", "delete cluster", "delete nodegroup",
                                          "delete iamserviceaccount"));
}

}  // namespace
}  // namespace lockstep::cluster::eks
