#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/capacity_search.h"
#include "lockstep/cluster/eks/down.h"
#include "lockstep/cluster/eks/kubernetes_object.h"
#include "lockstep/cluster/eks/plan.h"
#include "lockstep/cluster/eks/readiness.h"
#include "lockstep/cluster/eks/up.h"
#include "tests/cluster/eks/fake_world.h"

namespace lockstep::cluster::eks {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kPinned =
    "image: {reference: \"registry.example/ray@sha256:" + std::string(64, 'a') + "\"}\n";
constexpr const char* kToday = "2026-01-02";

ClusterSettings settings(const std::string& more = "") {
  return ClusterSettings::parse(kPinned + more, "cluster.yaml");
}

Preflight look(FakeWorld& world, const ClusterSettings& settings) {
  Aws aws(world, settings.region);
  return look_before(aws, settings, kToday);
}

void bring_up(FakeWorld& world, const ClusterSettings& settings) {
  const Preflight preflight = look(world, settings);
  require_no_fault(preflight.checks, "cluster");
  up(preflight, world.surroundings());
}

// Commands that make something, from `first` on.
std::vector<std::string> makers(const FakeWorld& world, size_t first = 0) {
  std::vector<std::string> found;
  for (size_t i = first; i < world.log.size(); ++i) {
    const std::string& line = world.log[i];
    if (line.find("create") != line.npos && line.find("--dry-run") == line.npos) found.push_back(line);
  }
  return found;
}

// What a refusal says; "" when there was none.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const Check& check_of(const Preflight& preflight, const std::string& name) {
  const auto& checks = preflight.checks;
  const auto found =
      std::find_if(checks.begin(), checks.end(), [&](const Check& check) { return check.name == name; });
  if (found == checks.end()) throw std::runtime_error("no check " + name);
  return *found;
}

TEST(Preflight, FindsNothingWrongInAGoodWorld) {
  FakeWorld world;
  const Preflight preflight = look(world, settings());
  EXPECT_NO_THROW(require_no_fault(preflight.checks, "cluster")) << checks_text(preflight.checks);
  EXPECT_EQ(preflight.candidates, (std::vector<std::string>{"us-east-2a", "us-east-2b", "us-east-2c"}));
  EXPECT_THAT(check_of(preflight, "identity").saw, HasSubstr("account 123456789012"));
  EXPECT_THAT(check_of(preflight, "tools").saw, HasSubstr("eksctl 0.231.0"));
  EXPECT_THAT(makers(world), IsEmpty());
}

TEST(Preflight, CountsTheQuotaInVcpus) {
  FakeWorld world;
  world.gpu_quota = 95;
  const Check check = check_of(look(world, settings()), "GPU quota");
  EXPECT_EQ(check.state, CheckState::kFault);
  EXPECT_THAT(check.saw, HasSubstr("95 vCPUs of \"Running On-Demand G and VT instances\", 96 needed"));
  EXPECT_THAT(check.fix, HasSubstr("--desired-value 96"));
}

TEST(Preflight, KnowsVersionsPastTheirSupportAndWhatTheyCost) {
  FakeWorld world;
  const Preflight preflight = look(world, settings("kubernetes_version: \"1.34\"\n"));
  EXPECT_THAT(check_of(preflight, "kubernetes").saw, HasSubstr("since 2026-12-02"));
  EXPECT_NEAR(plan_after(preflight).price.dollars_per_hour(), 9.5498 + 0.50, 1e-9);
  EXPECT_EQ(check_of(look(world, settings("kubernetes_version: \"1.29\"\n")), "kubernetes").state,
            CheckState::kFault);
}

TEST(Preflight, ReservationOfAnotherZoneIsRefusedBeforeAnythingIsMade) {
  FakeWorld world;
  world.reservations = {
      {.id = "cr-abc", .zone = "us-east-2b", .type = "g6.12xlarge", .is_ours = false, .total = 2}};
  const std::string reserved = "gpu_nodes: {reservation: cr-abc, zones: [us-east-2a]}\n";
  EXPECT_THAT(refusal([&] { bring_up(world, settings(reserved)); }),
              AllOf(HasSubstr("reservation: cr-abc: 2 of 2 x g6.12xlarge free in us-east-2b"),
                    HasSubstr("set gpu_nodes.zones: [us-east-2b]")));
  EXPECT_THAT(makers(world), IsEmpty());
  EXPECT_THAT(refusal([&] { look(world, settings("gpu_nodes: {reservation: cr-def}\n")); }),
              HasSubstr("there is no cr-def"));
}

// As a registry that has v1.0 for linux/amd64, and nothing else.
ResolvedImage resolve_like_a_registry(const ImageReference& image, const std::string& platform) {
  if (image.tag != "v1.0") throw ConfigError("image: no tag " + image.tag);
  ResolvedImage resolved{.image = image, .platform = platform, .created = "2026-10-12"};
  resolved.image.digest = "sha256:" + std::string(64, 'b');
  return resolved;
}

TEST(Preflight, NamesTheImageByItsDigestInAllThatIsMade) {
  FakeWorld world;
  const auto by_tag =
      ClusterSettings::parse("image: {reference: \"registry.example/ray:v1.0\"}\n", "cluster.yaml");
  Aws aws(world, by_tag.region);
  const Preflight preflight = look_before(aws, by_tag, kToday, resolve_like_a_registry);
  const std::string pinned = "registry.example/ray@sha256:" + std::string(64, 'b');
  EXPECT_THAT(check_of(preflight, "image").saw,
              AllOf(HasSubstr("registry.example/ray:v1.0 is sha256:bbbb"), HasSubstr("built 2026-10-12")));
  const Plan plan = plan_after(preflight);
  EXPECT_THAT(plan.to_text(), HasSubstr("  image " + pinned + "\n"));
  EXPECT_THAT(plan.files.back().to_text(), AllOf(HasSubstr("image: " + pinned), Not(HasSubstr("ray:v1.0"))));
  up(preflight, world.surroundings());
  EXPECT_TRUE(world.is_whole());
}

TEST(Preflight, AnImageThatCannotBeHadStandsInTheWay) {
  FakeWorld world;
  const auto image_check = [&](const std::string& reference, const ResolveImage& resolve) {
    const auto wanted = ClusterSettings::parse("image: {reference: \"" + reference + "\"}\n", "cluster.yaml");
    Aws aws(world, wanted.region);
    return check_of(look_before(aws, wanted, kToday, resolve), "image");
  };
  const Check absent = image_check("registry.example/ray:v1.7", resolve_like_a_registry);
  EXPECT_EQ(absent.state, CheckState::kFault);
  EXPECT_THAT(absent.saw, HasSubstr("no tag v1.7"));
  const ResolveImage down = [](const auto&, const auto&) -> ResolvedImage {
    throw CommandError("no answer");
  };
  EXPECT_EQ(image_check("registry.example/ray:v1.0", down).state, CheckState::kFault);
  EXPECT_EQ(image_check("registry.example/ray@sha256:" + std::string(64, 'a'), down).state,
            CheckState::kNote);
}

TEST(Up, MakesEverythingAndThenNothingMore) {
  FakeWorld world;
  bring_up(world, settings());
  EXPECT_TRUE(world.is_whole());
  EXPECT_EQ(world.node_groups["gpu-workers"].reservation, world.reservations.at(0).id);
  EXPECT_EQ(world.idle_reservations(), 0);

  const size_t before = world.log.size();
  bring_up(world, settings());
  EXPECT_THAT(makers(world, before),
              Each(testing::AnyOf(HasSubstr("eksctl create addon"), HasSubstr("helm upgrade"))));
  EXPECT_EQ(world.reservations.size(), 1U);
}

TEST(Up, TriesTheNextZoneAndFirstTheOneThatEc2Names) {
  FakeWorld world;  // us-east-2a has no room, and says that us-east-2c has
  bring_up(world, settings());
  EXPECT_EQ(world.reservations.size(), 1U);
  EXPECT_EQ(world.reservations[0].zone, "us-east-2c");
}

TEST(Up, WithoutRoomAnywhereMakesNothing) {
  FakeWorld world;
  world.has_room = {{"us-east-2a", false}, {"us-east-2b", false}, {"us-east-2c", false}};
  const std::string said = refusal([&] { bring_up(world, settings()); });
  EXPECT_THAT(said, AllOf(HasSubstr("no capacity for 2 x g6.12xlarge"),
                          HasSubstr("us-east-2b: InsufficientInstanceCapacity")));
  EXPECT_THAT(world.what_is_left(), IsEmpty());
  EXPECT_THAT(makers(world), Each(HasSubstr("create-capacity-reservation")));
}

TEST(Up, UsesAGivenReservationAsItIs) {
  FakeWorld world;
  world.reservations = {
      {.id = "cr-abc", .zone = "us-east-2b", .type = "g6.12xlarge", .is_ours = false, .total = 2}};
  bring_up(world, settings("gpu_nodes: {reservation: cr-abc}\n"));
  EXPECT_EQ(world.node_groups["gpu-workers"].reservation, "cr-abc");
  EXPECT_EQ(world.reservations.size(), 1U);
  EXPECT_THAT(down(settings("gpu_nodes: {reservation: cr-abc}\n"), world.surroundings()).found, IsEmpty());
  EXPECT_TRUE(world.reservations[0].is_active) << "it is not ours to cancel";
}

TEST(Preflight, NoticesThatEksctlDropsTheReservation) {
  FakeWorld world;
  world.reservations = {
      {.id = "cr-abc", .zone = "us-east-2b", .type = "g6.12xlarge", .is_ours = false, .total = 2}};
  world.eksctl_drops_reservation = true;
  EXPECT_EQ(check_of(look(world, settings("gpu_nodes: {reservation: cr-abc}\n")), "eksctl").state,
            CheckState::kFault);
  world.eksctl_drops_reservation = false;
  EXPECT_EQ(check_of(look(world, settings("gpu_nodes: {reservation: cr-abc}\n")), "eksctl").state,
            CheckState::kGood);
}

TEST(Up, WaitsForNodesThatAreBeingMadeAndLeavesThemTheirReservation) {
  FakeWorld world;
  bring_up(world, settings());
  world.node_groups["gpu-workers"].status = "CREATING";
  bring_up(world, settings());
  EXPECT_TRUE(world.is_whole());
  EXPECT_EQ(world.reservations.size(), 1U);
  EXPECT_TRUE(world.reservations[0].is_active);
}

TEST(Up, MakesNodesAnewThatAnExpiryTookAway) {
  FakeWorld world;
  bring_up(world, settings());
  world.node_groups["gpu-workers"].desired = 0;
  bring_up(world, settings());
  EXPECT_EQ(world.node_groups["gpu-workers"].desired, 2);
  EXPECT_EQ(world.idle_reservations(), 0);
}

TEST(Down, OfAClusterThatIsBeingMadeWaitsForIt) {
  FakeWorld world;
  world.cluster_status = "CREATING";
  world.stacks["eksctl-lockstep-cluster"] = "CREATE_IN_PROGRESS";
  EXPECT_THAT(down(settings(), world.surroundings()).found, IsEmpty());
  EXPECT_THAT(world.what_is_left(), IsEmpty());
}

TEST(ExistingCluster, GetsNodesAndLosesNothingElse) {
  FakeWorld world;
  bring_up(world, settings());
  down(settings(), world.surroundings());
  world.cluster_status = "ACTIVE";
  world.stacks["eksctl-lockstep-cluster"] = "CREATE_COMPLETE";
  world.node_groups["system"] = {"ACTIVE", "", 1};
  const auto existing = settings("existing: true\nstorage: {s3: s3://lab-runs/a}\n");
  bring_up(world, existing);
  EXPECT_TRUE(world.is_whole());
  EXPECT_EQ(refusal([&] { down(existing, world.surroundings()); }), "");
  EXPECT_EQ(world.cluster_status, "ACTIVE");
  EXPECT_TRUE(world.node_groups.contains("system"));
  EXPECT_FALSE(world.node_groups.contains("gpu-workers"));
  EXPECT_FALSE(world.kubernetes.objects.contains("RayCluster"));
  EXPECT_EQ(world.idle_reservations(), 0);
}

TEST(Up, WantsAPinnedImage) {
  FakeWorld world;
  const auto unpinned = ClusterSettings::parse("", "cluster.yaml");
  EXPECT_THAT(refusal([&] { bring_up(world, unpinned); }), HasSubstr("by digest"));
  EXPECT_THAT(world.what_is_left(), IsEmpty());
}

TEST(Up, SaysWhatIsMissingWhenItDoesNotCome) {
  FakeWorld world;
  world.kubernetes.efa_per_node = 0;
  EXPECT_THAT(refusal([&] { bring_up(world, settings()); }),
              AllOf(HasSubstr("the GPU nodes not ready after 15 minutes"),
                    HasSubstr("node gpu-0 gives 0 of 1 EFA: the plugin")));
  world.kubernetes.efa_per_node = 1;
  world.kubernetes.ray_gpus = 4;
  EXPECT_THAT(refusal([&] { bring_up(world, settings()); }), HasSubstr("Ray sees 4 GPUs, Kubernetes gave 8"));
  world.kubernetes.ray_gpus = 8;
  world.kubernetes.qos = "Burstable";
  EXPECT_THAT(refusal([&] { bring_up(world, settings()); }),
              HasSubstr("pod head is Burstable, not Guaranteed"));
}

TEST(Readiness, SaysWhyAPluginIsWantedOnNoNode) {
  FakeWorld world;
  bring_up(world, settings());
  const Deployment deployment = assumed_deployment(settings());
  Kubernetes kubernetes(world, deployment);
  Json nodes = list_nodes(kubernetes), sets = list_daemonsets(kubernetes);
  EXPECT_EQ(readiness_of_nodes(nodes, sets, deployment).to_text(), "");
  for (Json& node : nodes["items"])
    node["spec"]["taints"] = {{{"key", "nvidia.com/gpu"}, {"value", "present"}, {"effect", "NoSchedule"}}};
  for (Json& set : sets["items"]) set["status"]["desiredNumberScheduled"] = 0;
  EXPECT_THAT(
      readiness_of_nodes(nodes, sets, deployment).to_text(),
      HasSubstr(
          "nvidia-device-plugin: wanted on no node: on gpu-0 it does not tolerate the taint nvidia.com/gpu"));
}

TEST(Up, SetsAnExpiryOnTheNodes) {
  FakeWorld world;
  bring_up(world, settings("expires_after: 120m\n"));
  EXPECT_EQ(world.schedules, (std::set<std::string>{"2026-02-02T04:40:00Z"}));
  EXPECT_EQ(world.reservations[0].end, "2026-02-02T04:40:00Z");
}

TEST(Up, TokenOfAnOlderOperatorGoesInByStandardInput) {
  FakeWorld world;
  bring_up(world, settings("charts: {kuberay: \"1.4.0\"}\n"));
  EXPECT_TRUE(world.kubernetes.objects.contains("Secret"));
  EXPECT_THAT(world.log, Each(Not(HasSubstr("auth_token"))));
  EXPECT_THAT(world.said, Each(Not(HasSubstr("auth_token"))));
}

TEST(Down, LeavesNothing) {
  FakeWorld world;
  bring_up(world, settings());
  const LeftoverSearch search = down(settings(), world.surroundings());
  EXPECT_THAT(search.found, IsEmpty()) << to_text(search.found);
  EXPECT_THAT(search.not_asked, IsEmpty());
  EXPECT_THAT(world.what_is_left(), IsEmpty());
}

TEST(Down, OfNothingIsDoneAtOnce) {
  FakeWorld world;
  EXPECT_THAT(down(settings(), world.surroundings()).found, IsEmpty());
}

TEST(Down, CancelsAForgottenReservation) {
  FakeWorld world;
  world.reservations = {{.id = "cr-abc", .zone = "us-east-2b", .type = "g6.12xlarge", .total = 2}};
  EXPECT_THAT(down(settings(), world.surroundings()).found, IsEmpty());
  EXPECT_THAT(world.what_is_left(), IsEmpty());
}

// Each command of a whole `up`, and then of a whole `down`, fails once, in each of the ways that programs
// fail.
class EveryFailure : public testing::TestWithParam<Failure> {};

TEST_P(EveryFailure, OfUpIsMadeGoodByUpAndByDown) {
  FakeWorld undisturbed;
  bring_up(undisturbed, settings());
  int noticed = 0;
  for (size_t at = 0; at < undisturbed.num_commands; ++at) {
    SCOPED_TRACE(fmt::format("command {}: {}", at, undisturbed.log[at]));
    FakeWorld world;
    world.fault = {at, GetParam()};
    const std::string said = refusal([&] { bring_up(world, settings()); });
    noticed += said.empty() ? 0 : 1;
    world.fault.reset();
    EXPECT_EQ(world.idle_reservations(), 0) << said;

    FakeWorld other = world;  // the same, for `down` straight away
    EXPECT_EQ(refusal([&] { bring_up(world, settings()); }), "");
    EXPECT_TRUE(world.is_whole()) << said;
    EXPECT_EQ(world.idle_reservations(), 0);
    EXPECT_EQ(refusal([&] { down(settings(), world.surroundings()); }), "");
    EXPECT_THAT(world.what_is_left(), IsEmpty());
    EXPECT_EQ(refusal([&] { down(settings(), other.surroundings()); }), "");
    EXPECT_THAT(other.what_is_left(), IsEmpty()) << said;
  }
  std::cout << fmt::format("up: failed at {} points, {} of them noticed\n", undisturbed.num_commands,
                           noticed);
}

TEST_P(EveryFailure, OfDownIsMadeGoodByDown) {
  FakeWorld undisturbed;
  bring_up(undisturbed, settings());
  const size_t first = undisturbed.num_commands;
  down(settings(), undisturbed.surroundings());
  for (size_t at = first; at < undisturbed.num_commands; ++at) {
    SCOPED_TRACE(fmt::format("command {}: {}", at, undisturbed.log[at]));
    FakeWorld world;
    bring_up(world, settings());
    world.fault = {at, GetParam()};
    LeftoverSearch search;
    const std::string said = refusal([&] { search = down(settings(), world.surroundings()); });
    // Nothing may be left in silence.
    if (said.empty() && search.not_asked.empty() && search.found.empty()) {
      EXPECT_THAT(world.what_is_left(), IsEmpty());
    }
    world.fault.reset();
    EXPECT_EQ(refusal([&] { down(settings(), world.surroundings()); }), "");
    EXPECT_THAT(world.what_is_left(), IsEmpty()) << said;
  }
  std::cout << fmt::format("down: failed at {} points\n", undisturbed.num_commands - first);
}

std::string name_of(const testing::TestParamInfo<Failure>& info) {
  constexpr const char* kNames[] = {"Error", "Timeout", "Garbage", "Interrupt", "InterruptLate"};
  return kNames[static_cast<size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Ways, EveryFailure,
                         testing::Values(Failure::kError, Failure::kTimeout, Failure::kGarbage,
                                         Failure::kInterrupt, Failure::kInterruptLate),
                         name_of);

}  // namespace
}  // namespace lockstep::cluster::eks
