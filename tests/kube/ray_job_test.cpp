// `lockstep cluster submit` and `fetch` with a real Ray in the head's place, and the package that
// deploy/package makes of this build: of what a job passes through, only the pods' own machines are missing.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/env_var.h"
#include "ray_cluster_fixture.h"
#include "tests/cluster/variable.h"

namespace lockstep::kube {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;

class JobOnRay : public RayClusterOnKubernetes {
 protected:
  void SetUp() override {
    RayClusterOnKubernetes::SetUp();
    const std::string bin = fs::path(LOCKSTEP_RAY_PYTHON).parent_path(), dashboard = free_address();
    const std::string control = free_address();
    const std::string common = "export PATH=" + bin + ":$PATH RAY_USAGE_STATS_ENABLED=0 OMP_NUM_THREADS=1\n";
    // The GPUs are pretended: Ray counts them, and the job uses none.
    bed_.add_program("start-ray", common + "exec ray start --head --block --num-cpus=2 --num-gpus=8 --port=" +
                                      port_of(control) + " --dashboard-port=" + port_of(dashboard) +
                                      " --object-store-memory=78643200 --disable-usage-stats");
    bed_.add_program("ray", common + "RAY_ADDRESS=" + control + " exec " + bin + "/ray \"$@\"");
    // This Python has no torch; in the image it has.
    bed_.add_program("python", common + "LD_LIBRARY_PATH=" LOCKSTEP_TORCH_LIB " RAY_ADDRESS=http://" +
                                   dashboard + " exec python \"$@\"");
    bed_.start_program("start-ray");
    bed_.wait_for("Ray's dashboard", [&] {
      return cli::shell("curl --fail --silent http://" + dashboard + "/api/version").exit_code == 0;
    });

    ASSERT_EQ(
        cli::shell("deploy/package --build " + build_path() + " --output " + (folder_ / "package")).exit_code,
        0);
    std::ofstream(folder_ / "cluster.yaml")
        << "image: {reference: \"registry.example/train/ray@sha256:aa\"}\n"
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
                folder_ / "package",
                "ray.runtime_env={env_vars: {LD_LIBRARY_PATH: " LOCKSTEP_TORCH_LIB "}}"});
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

}  // namespace
}  // namespace lockstep::kube
