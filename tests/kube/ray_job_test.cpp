// `lockstep cluster submit`, `fetch` and `image update --accept` with a real Ray in the head's place, and the
// package that deploy/package makes of this build: of what a job passes through, only the pods' own machines
// are missing.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "eks_on_bed.h"
#include "lockstep/base/env_var.h"
#include "lockstep/cluster/accept/accept_update.h"
#include "lockstep/cluster/job_package.h"
#include "ray_cluster_fixture.h"
#include "tests/cluster/variable.h"

namespace lockstep::kube {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;

// For the workers, whose Python has no torch.
constexpr const char* kTorch = "ray.runtime_env={env_vars: {LD_LIBRARY_PATH: " LOCKSTEP_TORCH_LIB "}}";

class JobOnRay : public RayClusterOnKubernetes {
 protected:
  // One Ray for all: two on one machine would share ports.
  static void SetUpTestSuite() {
    RayClusterOnKubernetes::SetUpTestSuite();
    KubeBed& bed = KubeBed::shared();
    const std::string bin = fs::path(LOCKSTEP_RAY_PYTHON).parent_path(), dashboard = free_address();
    const std::string control = free_address();
    const std::string common = "export PATH=" + bin + ":$PATH RAY_USAGE_STATS_ENABLED=0 OMP_NUM_THREADS=1\n";
    const auto start_ray = [&](const std::string& options) {
      return common + "exec ray start --block --num-cpus=2 --object-store-memory=78643200" +
             " --dashboard-agent-listen-port=" + port_of(free_address()) + " " + options;
    };
    // The GPUs are pretended: Ray counts them, and the job uses none.
    bed.add_program("start-ray", start_ray("--head --num-gpus=8 --disable-usage-stats --port=" +
                                           port_of(control) + " --dashboard-port=" + port_of(dashboard)));
    // In folders of its own, as on a machine of its own.
    bed.add_program("start-ray-node",
                    start_ray("--address=" + control + " --temp-dir=" + bed.temporary_folder() + "/n"));
    bed.add_program("ray", common + "RAY_ADDRESS=" + control + " exec " + bin + "/ray \"$@\"");
    // This Python has no torch; in the image it has.
    bed.add_program("python", common + "case $2 in *torch.cuda*) echo 13.0 4; exit ;; esac\n" +
                                  "LD_LIBRARY_PATH=" LOCKSTEP_TORCH_LIB " RAY_ADDRESS=http://" + dashboard +
                                  " exec python \"$@\"");
    bed.start_program("start-ray");
    bed.wait_for("Ray's dashboard", [&] {
      return cli::shell("curl --fail --silent http://" + dashboard + "/api/version").exit_code == 0;
    });
  }

  void SetUp() override {
    RayClusterOnKubernetes::SetUp();
    ASSERT_EQ(
        cli::shell("deploy/package --build " + build_path() + " --output " + (folder_ / "package")).exit_code,
        0);
    std::ofstream(folder_ / "cluster.yaml")
        << "image: {reference: \"registry.example/train/ray@sha256:" << std::string(64, 'a') << "\"}\n"
        << "network: {require: any}\n";
    std::ofstream(folder_ / "aws") << "#!/bin/sh\nwhile [ \"$1\" != --kubeconfig ]; do shift; done; cp "
                                   << bed_.kubeconfig() << " \"$2\"\n";
    fs::permissions(folder_ / "aws", fs::perms::owner_all);
    std::string recipe = read_file(source_path("examples/tiny.yaml"));
    const std::string from = "examples/tiny/";
    for (size_t at = recipe.find(from); at != recipe.npos;
         at = recipe.find(from, at + source_path(from).size()))
      recipe.replace(at, from.size(), source_path(from));
    std::ofstream(folder_ / "recipe.yaml") << recipe;
  }

  cli::Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), "cluster");
    words.insert(words.end(), {"--cluster", folder_ / "cluster.yaml"});
    return cli::lockstep(words);
  }
  cli::Finished submit(const std::string& run_dir, const std::string& override_) {
    return run({"submit", folder_ / "recipe.yaml", "run.dir=" + run_dir, override_, "--package",
                folder_ / "package", kTorch});
  }

  const TemporaryFolder folder_;
  const cluster::Variable path_{
      "PATH",
      (folder_.path() + ":" LOCKSTEP_KUBE_TOOLS ":" + env_var("PATH").value_or("/usr/bin:/bin")).c_str()};
};

TEST_F(JobOnRay, TrainsAndItsRunIsFetchedAndItsErrorIsOurs) {
  const std::string run_dir = folder_ / "runs/first", here = folder_ / "here";
  const auto done = submit(run_dir, "train.steps=4");
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("step 4")) << done.err;
  const auto fetched = run({"fetch", run_dir, "--output", here});
  EXPECT_EQ(fetched.exit_code, 0) << fetched.err;
  EXPECT_EQ(cli::shell("diff -r " + run_dir + " " + here).out, "");
  EXPECT_THAT(cli::shell("cat " + here + "/events/*").out, HasSubstr("\"weights_sha256\""));

  const auto failed = submit(folder_ / "runs/second", "data.sources=[{path: /no/such/text.jsonl}]");
  EXPECT_THAT(failed.exit_code, AnyOf(2, 3)) << failed.out << failed.err;
  EXPECT_THAT(failed.err, HasSubstr("FAILED with exit code " + std::to_string(failed.exit_code)));
  EXPECT_THAT(failed.out, HasSubstr("/no/such/text.jsonl"));
}

// All but AWS is real: the RayCluster's pods are replaced by the operator, and what is measured was measured.
TEST_F(JobOnRay, AnImageIsAcceptedByWhatTrainsOnIt) {
  bed_.add_program("lockstep", "exec " + build_path("bin/lockstep") + " \"$@\"");
  EksOnBed eks(bed_);
  eks.world.cluster_status = "ACTIVE";
  const std::string image = "registry.example/train/ray@sha256:";
  const cluster::accept::Update update{
      .lock_path = folder_ / "ray.lock.yaml",
      .before = {.image = image + std::string(64, 'a'), .tag = "v1.0"},
      .after = {.image = image + std::string(64, 'b'), .tag = "v1.0"},
      .settings = cluster::eks::ClusterSettings::load(folder_ / "cluster.yaml", {"charts.kuberay=1.5.0"}),
      .measure = {.recipe_path = "recipe.yaml",
                  .recipe = read_file(folder_ / "recipe.yaml"),
                  .overrides = {kTorch},
                  .run_dir = folder_ / "runs/accept",
                  .id = "accept-1",
                  .all_reduce_bytes = 1 << 20,
                  .package = cluster::make_job_package({.folder = folder_ / "package"})},
      // Two busy cores: what is slower is chance.
      .allowance = {.slower_percent = 1000, .loss_percent = 0.01},
      .way_back = "back"};
  update.before.save(update.lock_path);
  const auto workers = running("worker");
  const auto decision = accept_update(update, eks.surroundings());
  EXPECT_TRUE(decision.is_accepted) << to_text(decision.rows);
  for (const Json& pod : pods()) {
    EXPECT_EQ(pod.at("spec").at("containers").at(0).at("image"), update.after.image);
    EXPECT_FALSE(workers.contains(pod.at("metadata").at("name").get<std::string>()));
  }
  const auto lock = cluster::ImageLock::load(update.lock_path);
  ASSERT_TRUE(lock.accepted);
  EXPECT_EQ(lock.accepted->after.losses, lock.accepted->before.losses) << "the same CPU";
  EXPECT_LT(lock.accepted->after.losses.back(), lock.accepted->after.losses.front());
  EXPECT_EQ(lock.accepted->after.ranks, 2);
  EXPECT_GT(lock.accepted->after.bus_bandwidth, 0);
  EXPECT_EQ(lock.accepted->after.transport, "none") << "one node";
  EXPECT_EQ(cli::shell("ls " + folder_ / "runs").out, "");
}

// The last one: its node of Ray's stays. Each of two has one worker, which talk over TCP.
TEST_F(JobOnRay, ANetworkThatTheGateRefusesIsSubmitsExitCode) {
  bed_.start_program("start-ray-node");
  const std::string head = *running("head").begin();
  bed_.wait_for("Ray's second node", [&] {
    return bed_.run({"exec", head, in_, "--", "ray", "status"}).out.find("/4.0 CPU") != std::string::npos;
  });
  const auto refused =
      run({"submit", folder_ / "recipe.yaml", "run.dir=" + folder_ / "runs/third", "network.require=efa",
           "ray.resources_per_worker={CPU: 2}", "--package", folder_ / "package", kTorch});
  EXPECT_EQ(refused.exit_code, 5) << refused.out << refused.err;
  EXPECT_THAT(refused.out, HasSubstr("the transport is none"));
  EXPECT_THAT(refused.err, HasSubstr("FAILED with exit code 5: the network was refused"));
}

}  // namespace
}  // namespace lockstep::kube
