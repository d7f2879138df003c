#include <fmt/format.h>
#include <gmock/gmock.h>

#include <iostream>

#include "lockstep/base/error.h"
#include "lockstep/cluster/accept/accept_update.h"
#include "tests/cluster/accept/accept_world.h"

namespace lockstep::cluster::accept {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const ComparedRow& row_of(const Decision& decision, const std::string& what) {
  for (const ComparedRow& row : decision.rows) {
    if (row.what == what) return row;
  }
  throw std::runtime_error("no row " + what);
}

std::vector<std::string> rows_that_do_not_hold(const Decision& decision) {
  std::vector<std::string> names;
  for (const ComparedRow& row : decision.rows) {
    if (!row.holds()) names.push_back(row.what);
  }
  return names;
}

// Measures, is refused, and the world is as it was.
Decision refused(AcceptWorld& world) {
  const std::string lock = world.lock_text();
  const Decision decision = world.accept();
  EXPECT_FALSE(decision.is_accepted);
  EXPECT_EQ(decision.not_back, "");
  EXPECT_TRUE(world.runs(kOld));
  EXPECT_EQ(world.lock_text(), lock);
  return decision;
}

template <typename Thrown, typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "";
}

TEST(AcceptUpdate, KeepsAnImageThatIsAsGoodAndWritesDownWhy) {
  AcceptWorld world;
  world.images[kNew].step_ms = 780;
  const Decision decision = world.accept();
  EXPECT_TRUE(decision.is_accepted);
  EXPECT_THAT(rows_that_do_not_hold(decision), IsEmpty());
  EXPECT_TRUE(world.runs(kNew));
  EXPECT_EQ(row_of(decision, "step time").ratio, "0.975 x");

  const ImageLock lock = ImageLock::load(world.lock_path());
  EXPECT_EQ(lock.image, kNew);
  ASSERT_TRUE(lock.accepted);
  EXPECT_EQ(lock.accepted->before.image, kOld);
  EXPECT_EQ(lock.accepted->before.step_ms, 800);
  EXPECT_EQ(lock.accepted->after.image, kNew);
  EXPECT_EQ(lock.accepted->after.step_ms, 780);
  EXPECT_EQ(lock.accepted->after.bus_bandwidth, 11.25);
  EXPECT_EQ(lock.accepted->after.ranks, 8);
  EXPECT_EQ(lock.accepted->after.transport, "efa");
  EXPECT_THAT(lock.accepted->after.losses, testing::SizeIs(20));
  EXPECT_THAT(world.runs_there, IsEmpty());
}

TEST(AcceptUpdate, TellsAScriptWhatItTellsAPerson) {
  AcceptWorld world;
  world.images[kNew].all_reduce_exit_code = 6;
  const Json json = to_json(refused(world));
  EXPECT_EQ(json.at("accepted"), false);
  EXPECT_EQ(json.at("comparison").at(2).at("what"), "all-reduce");
  EXPECT_EQ(json.at("comparison").at(2).at("holds"), false);
  EXPECT_EQ(json.at("evidence").at("before").at("all_reduce").at("bus_bandwidth_gb_per_s"), 11.25);
  EXPECT_TRUE(json.at("evidence").at("after").at("all_reduce").is_null());
  EXPECT_EQ(json.at("evidence").at("after").at("training").at("step_ms"), 800);
}

TEST(AcceptUpdate, SaysWhatTheSettingsMustNameThen) {
  AcceptWorld world;
  Update update = world.update();
  EXPECT_EQ(settings_to_change(update, "cluster.yaml"),
            "cluster.yaml still names the former one: image.reference is now " + kNew + "\n");
  update.settings.image.reference = "registry.example/ray:v1.0";
  EXPECT_EQ(settings_to_change(update, "cluster.yaml"), "");
  update.after.components["ray"] = "2.59.0";
  EXPECT_THAT(settings_to_change(update, "cluster.yaml"), HasSubstr("image.ray_version is now \"2.59.0\""));
}

TEST(AcceptUpdate, MeasuresTheSameOnBothWithTheRecipesOwnKeys) {
  AcceptWorld world;
  world.accept();
  ASSERT_EQ(world.submitted.size(), 4);
  EXPECT_THAT(world.submitted, Each(AllOf(HasSubstr("optimizer.lr=0.001"), HasSubstr("network.require=efa"),
                                          HasSubstr("train.steps=20"), HasSubstr("--image-lock"))));
  EXPECT_THAT(world.submitted, ElementsAre(HasSubstr("run.dir=/fsx/runs/first-accept-1-before-all-reduce"),
                                           HasSubstr("run.dir=/fsx/runs/first-accept-1-before-training"),
                                           HasSubstr("run.dir=/fsx/runs/first-accept-1-after-all-reduce"),
                                           HasSubstr("run.dir=/fsx/runs/first-accept-1-after-training")));
}

TEST(AcceptUpdate, ThePlanNamesTheCommandsThatAreRun) {
  AcceptWorld world;
  eks::Kubernetes kubernetes(world.cloud, eks::assumed_deployment(world.update().settings));
  const auto planned = planned_commands(kubernetes, world.update(), "cluster.yaml");
  EXPECT_THAT(planned, ElementsAre("lockstep cluster doctor cluster.yaml", HasSubstr("--program all_reduce"),
                                   HasSubstr("lockstep cluster submit"), HasSubstr("kubectl apply"),
                                   HasSubstr("kubectl delete pods head worker-0 worker-1"),
                                   "lockstep cluster doctor cluster.yaml", HasSubstr("--program all_reduce"),
                                   HasSubstr("lockstep cluster submit")));
  world.accept();
  size_t num_submitted = 0;
  for (const std::string& line : planned) {
    if (line.starts_with("kubectl")) {
      EXPECT_THAT(world.cloud.log, Contains(line.substr(0, line.find(" < "))));
    } else if (const size_t keys = line.find("optimizer.lr"); keys != line.npos) {
      EXPECT_THAT(world.submitted.at(num_submitted++),
                  HasSubstr(line.substr(keys, line.find(" --cluster") - keys)));
    }
  }
  EXPECT_EQ(num_submitted, 4);
}

TEST(AcceptUpdate, AFaultThatDoctorDidNotFindBeforeIsNotAccepted) {
  AcceptWorld world;
  world.images[kNew].efa_per_node = 0;
  const Decision decision = refused(world);
  EXPECT_THAT(rows_that_do_not_hold(decision), ElementsAre("doctor"));
  EXPECT_THAT(row_of(decision, "doctor").why_not, HasSubstr("a fault that was not there: efa-on-nodes"));
}

TEST(AcceptUpdate, ARefusedNetworkIsNotAccepted) {
  AcceptWorld world;
  world.images[kNew].training_exit_code = 5;
  const Decision decision = refused(world);
  EXPECT_TRUE(decision.is_network_refused);
  EXPECT_EQ(row_of(decision, "transport").after, "refused");
  EXPECT_THAT(row_of(decision, "transport").why_not,
              HasSubstr("ended with exit code 5: rank 3 did not do it"));
  EXPECT_THAT(world.runs_there, ElementsAre("/fsx/runs/first-accept-1-after-training")) << "its logs stay";
}

TEST(AcceptUpdate, EachReasonBecomesItsErrorWithBothFigures) {
  AcceptWorld network, slower;
  network.images[kNew].training_exit_code = 5;
  EXPECT_THROW(require_accepted(network.update(), refused(network)), TransportError);
  slower.images[kNew].step_ms = 900;
  const Update update = slower.update();
  Decision decision = refused(slower);
  EXPECT_THAT(refusal<GuardError>([&] { require_accepted(update, decision); }),
              AllOf(HasSubstr("step time: 12.5 % slower, 5 % are allowed (before 800 ms, 81920 tokens/s, "
                              "after 900 ms"),
                    HasSubstr("runs the locked image again")));
  decision.not_back = "the cluster may still run another";
  EXPECT_THAT(refusal<CommandError>([&] { require_accepted(update, decision); }),
              HasSubstr("the cluster may still run another"));
}

TEST(AcceptUpdate, AnotherNetworkThanBeforeIsNotAccepted) {
  AcceptWorld world;
  world.images[kNew].transport = "socket";
  EXPECT_THAT(rows_that_do_not_hold(refused(world)), ElementsAre("transport"));
}

TEST(AcceptUpdate, ASlowerNetworkIsNotAcceptedBeyondTheAllowance) {
  AcceptWorld world;
  world.images[kNew].bus_bandwidth = 11.25 / 1.06;
  const Decision decision = refused(world);
  EXPECT_THAT(rows_that_do_not_hold(decision), ElementsAre("all-reduce"));
  EXPECT_EQ(row_of(decision, "all-reduce").why_not, "6.0 % slower, 5 % are allowed");
  EXPECT_EQ(row_of(decision, "all-reduce").before, "11.25 GB/s");
  EXPECT_EQ(row_of(decision, "all-reduce").after, "10.61 GB/s");
}

TEST(AcceptUpdate, AnAllReduceThatFailsIsNotAccepted) {
  AcceptWorld world;
  world.images[kNew].all_reduce_exit_code = 6;
  const Decision decision = refused(world);
  EXPECT_THAT(rows_that_do_not_hold(decision), ElementsAre("all-reduce"));
  EXPECT_EQ(row_of(decision, "all-reduce").after, "none");
}

TEST(AcceptUpdate, SlowerStepsAndAnotherLossAreNotAccepted) {
  AcceptWorld slower;
  slower.images[kNew].step_ms = 850;
  EXPECT_EQ(row_of(refused(slower), "step time").why_not, "6.2 % slower, 5 % are allowed");
  AcceptWorld within;
  within.images[kNew].step_ms = 835;
  EXPECT_TRUE(within.accept().is_accepted);
  AcceptWorld other;
  other.images[kNew].loss_factor = 1.03;
  const Decision decision = refused(other);
  EXPECT_THAT(rows_that_do_not_hold(decision), ElementsAre("loss"));
  EXPECT_THAT(row_of(decision, "loss").why_not, HasSubstr("at step 1"));
}

TEST(AcceptUpdate, LeavesTheClusterAloneWhereTheLockedImageCannotBeMeasured) {
  AcceptWorld world;
  world.images[kOld].training_exit_code = 4;
  EXPECT_THAT(refusal<CommandError>([&] { world.accept(); }),
              HasSubstr("on the locked image, where the cluster is as it was: job accept-1-before-training "
                        "ended with exit code 4: rank 3 did not do it"));
  EXPECT_THAT(world.cloud.log, Each(Not(HasSubstr("kubectl apply"))));
}

TEST(AcceptUpdate, LeavesAClusterAloneThatSomebodyUses) {
  AcceptWorld world;
  world.other_job = "tune-1";
  EXPECT_THAT(refusal<ConfigError>([&] { world.accept(); }), HasSubstr("job tune-1 is RUNNING"));
  world.other_job.clear();
  world.cloud.kubernetes.ray_jobs = {
      {{"metadata", {{"name", "nightly"}}}, {"status", {{"jobDeploymentStatus", "Initializing"}}}}};
  EXPECT_THAT(refusal<ConfigError>([&] { world.accept(); }), HasSubstr("RayJob nightly is Initializing"));
  EXPECT_THAT(world.submitted, IsEmpty());
}

TEST(AcceptUpdate, WantsPodsOfTheLockedImage) {
  AcceptWorld world;
  world.cloud.kubernetes.ray_pods.at(1).image = kNew;
  EXPECT_THAT(refusal<GuardError>([&] { world.accept(); }),
              AllOf(HasSubstr("worker-0/ray-worker runs " + kNew), HasSubstr("update LOCK --back")));
  go_back(world.update(), world.cloud.surroundings());
  EXPECT_TRUE(world.runs(kOld));
  EXPECT_TRUE(world.accept().is_accepted);
}

TEST(AcceptUpdate, ALockThatCannotBeWrittenTakesTheClusterBack) {
  AcceptWorld world;
  Update update = world.update();
  update.lock_path = "/proc/no-such-folder/ray.lock.yaml";
  EXPECT_THROW(accept_update(update, world.cloud.surroundings()), IoError);
  EXPECT_TRUE(world.runs(kOld));
}

TEST(AcceptUpdate, SaysTheWayBackWhereTheClusterDoesNotAnswerAnyMore) {
  AcceptWorld world;
  const auto in_pod = world.cloud.kubernetes.in_pod;
  world.cloud.kubernetes.in_pod = [&](const Command& command, const std::string& pod) {
    const bool is_lost = world.runs(kNew) && command_line(command).find(" cat ") != std::string::npos;
    if (is_lost) world.cloud.cluster_status = "UPDATING";
    return in_pod(command, pod);
  };
  const std::string lock = world.lock_text();
  EXPECT_THAT(refusal<CommandError>([&] { world.accept(); }), HasSubstr("no cluster"));
  EXPECT_EQ(world.lock_text(), lock);
  EXPECT_THAT(world.said(), HasSubstr("the cluster may still run " + kNew));
}

// Each command fails once, in each of the ways that programs fail.
class EveryFailureOfAccept : public testing::TestWithParam<eks::Failure> {};

// Whether something is left for --back, and all that must hold in any case.
bool is_left_to_the_user(size_t at, eks::Failure kind, double step_ms) {
  AcceptWorld world;
  world.images[kNew].step_ms = step_ms;
  const std::string before = world.lock_text();
  world.cloud.fault = {at, kind};
  Decision decision;
  const std::string error = refusal<Error>([&] { decision = world.accept(); });
  world.cloud.fault.reset();
  EXPECT_THAT(world.running_jobs(), IsEmpty());
  if (decision.is_accepted) {
    EXPECT_TRUE(world.runs(kNew));
    EXPECT_EQ(ImageLock::load(world.lock_path()).image, kNew);
    return false;
  }
  EXPECT_EQ(world.lock_text(), before);
  if (world.runs(kOld)) return false;
  EXPECT_THAT(error.empty() ? decision.not_back : world.said(),
              AllOf(HasSubstr("the cluster may still run " + kNew),
                    HasSubstr("`lockstep image update LOCK --back` brings it to the locked image")))
      << error;
  go_back(world.update(), world.cloud.surroundings());
  EXPECT_TRUE(world.runs(kOld));
  return true;
}

TEST_P(EveryFailureOfAccept, LeavesTheLockedImageOrSaysWhatBringsItBack) {
  size_t first = 0;
  // With an image that is as good, and then the commands more of one that is not.
  for (const double step_ms : {800, 900}) {
    AcceptWorld undisturbed;
    undisturbed.images[kNew].step_ms = step_ms;
    EXPECT_EQ(undisturbed.accept().is_accepted, step_ms == 800);
    const size_t num_commands = undisturbed.cloud.num_commands;
    int left = 0;
    for (size_t at = first; at < num_commands; ++at) {
      SCOPED_TRACE(fmt::format("command {}: {}", at, undisturbed.cloud.log[at]));
      left += is_left_to_the_user(at, GetParam(), step_ms) ? 1 : 0;
    }
    std::cout << fmt::format("accept, steps of {} ms: failed at {} points, after {} of them --back is said\n",
                             step_ms, num_commands - first, left);
    first = num_commands;
  }
}

std::string name_of(const testing::TestParamInfo<eks::Failure>& info) {
  constexpr const char* kNames[] = {"Error", "Timeout", "Garbage", "Interrupt", "InterruptLate"};
  return kNames[static_cast<size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Ways, EveryFailureOfAccept,
                         testing::Values(eks::Failure::kError, eks::Failure::kTimeout, eks::Failure::kGarbage,
                                         eks::Failure::kInterrupt, eks::Failure::kInterruptLate),
                         name_of);

}  // namespace
}  // namespace lockstep::cluster::accept
