// `lockstep submit`, `lockstep jobs` and `lockstep doctor ray` against a server that answers as Ray does.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "lockstep/base/process.h"
#include "lockstep_program.h"
#include "tests/base/temporary_folder.h"
#include "tests/cluster/ray_server.h"
#include "tests/paths.h"

namespace lockstep::cli {
namespace {

using cluster::FakeRay;
using cluster::job_json;
using cluster::node_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Submit : public testing::Test {
 protected:
  Submit() {
    write("recipe.yaml",
          "name: x\nrun: {dir: /fsx/runs/x}\nmodel: {source: /fsx/model}\ndata: {source: random}\n"
          "train: {steps: 5, global_batch: 8}\n");
    write("package/package.json", R"({"version": 1, "torch_version": "2.13.0"})");
    write("package/bin/lockstep", "a program");
    server_.with([](FakeRay& ray) {
      ray.nodes = {node_json("head", "10.0.0.1", true, Json::object()),
                   node_json("w1", "10.0.0.2", false, {{"CPU", 4.0}, {"GPU", 2.0}})};
    });
  }

  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  Finished submit(std::vector<std::string> more, const std::string& address = "") {
    more.insert(more.begin(), {"submit", folder_ / "recipe.yaml", "--package", folder_ / "package",
                               "--ray-address", address.empty() ? server_.address() : address});
    return lockstep(more);
  }

  void expect_refusal(const std::vector<std::string>& more, int exit_code, const std::string& words) {
    const Finished finished = submit(more);
    EXPECT_EQ(finished.exit_code, exit_code);
    EXPECT_THAT(finished.err, AllOf(StartsWith("lockstep: error: "), HasSubstr(words)));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    server_.with([](FakeRay& ray) { EXPECT_THAT(ray.submissions, IsEmpty()); });
  }

  TemporaryFolder folder_;
  cluster::RayServer server_;
};

TEST_F(Submit, WhatIsWrongIsSaidInOneLineBeforeAnythingIsSent) {
  expect_refusal({"train.stpes=1"}, 2, "train.stpes");
  expect_refusal({"run.dir=runs/x"}, 2, "run.dir: \"runs/x\" is relative");
  expect_refusal({"scaling.num_workers=4"}, 2, "Ray counts 2 GPUs, 4 wanted");
  expect_refusal({"scaling.num_workers=2", "train.global_batch=7"}, 2,
                 "train.global_batch must be a multiple of");
  server_.with([](FakeRay& ray) { ray.version = "1.13.0"; });
  expect_refusal({}, 2, "runs Ray 1.13.0");
}

TEST_F(Submit, AFolderThatIsNoPackageIsRefused) {
  const Finished finished = lockstep(
      {"submit", folder_ / "recipe.yaml", "--package", folder_.path(), "--ray-address", server_.address()});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, AllOf(StartsWith("lockstep: error: "), HasSubstr("deploy/package")));
}

TEST_F(Submit, ADeadHeadIsSaidWithItsAddress) {
  int port = 0;
  {
    const cluster::RayServer gone;
    port = gone.port();
  }
  const Finished finished = submit({}, "http://127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(finished.exit_code, 8);
  EXPECT_THAT(finished.err, HasSubstr("no answer from http://127.0.0.1:" + std::to_string(port)));
}

TEST_F(Submit, UploadsOncePrintsTheLogAndEndsAsTheJobDoes) {
  server_.with([](FakeRay& ray) { ray.logs["first"] = "step 1\n"; });
  const Finished first = submit({"--submission-id", "first", "train.steps=2"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "step 1\n");
  EXPECT_THAT(first.err, AllOf(HasSubstr("uploaded _ray_pkg_"), HasSubstr("submitted job first")));
  const Finished second = submit({"--no-wait", "train.steps=2"});
  EXPECT_THAT(second.err, HasSubstr("is on the cluster already"));
  EXPECT_THAT(second.out, StartsWith("lockstep-x-"));
  server_.with([](FakeRay& ray) {
    ASSERT_EQ(ray.submissions.size(), 2);
    const Json& job = ray.submissions.front();
    EXPECT_EQ(job.at("entrypoint"), "python -m lockstep_ray job.json");
    EXPECT_EQ(job.at("metadata").at("run_dir"), "/fsx/runs/x");
    ASSERT_EQ(ray.packages.size(), 1);
    EXPECT_EQ(job.at("runtime_env").at("working_dir"), "gcs://" + ray.packages.begin()->first);
    EXPECT_THAT(ray.packages.begin()->second, StartsWith("PK"));
  });
}

TEST_F(Submit, TheLockOfTheNodesImageGoesWithTheJob) {
  expect_refusal({"--image-lock", folder_ / "no-such.yaml"}, 2, "lock: " + (folder_ / "no-such.yaml"));
  write("ray.lock.yaml", "version: 1\nimage: r.example/ray@sha256:ab\n");
  EXPECT_EQ(submit({"--image-lock", folder_ / "ray.lock.yaml", "--no-wait"}).exit_code, 0);
  server_.with([](FakeRay& ray) {
    EXPECT_EQ(ray.submissions.at(0).at("runtime_env").at("env_vars").at("LOCKSTEP_IMAGE_LOCK"),
              R"({"version":1,"image":"r.example/ray@sha256:ab"})");
  });
}

TEST_F(Submit, AsJsonTellsOfTheJobAlone) {
  const Finished finished = submit({"--json"});
  const Json result = Json::parse(finished.out);
  EXPECT_EQ(result.at("job").at("status"), "SUCCEEDED");
  EXPECT_EQ(result.at("job").at("exit_code"), 0);
}

// `lockstep bench transport` with jobs that have "trained" already: their folders are there.
class BenchOnRay : public Submit {
 protected:
  void trained(const std::string& folder, const std::string& step_ms) {
    write("runs/" + folder + "/recipe.yaml", "name: x\n");
    write("runs/" + folder + "/metrics/g001.jsonl",
          "{\"step\": 1, \"step_ms\": 900}\n{\"step\": 2, \"step_ms\": " + step_ms + "}\n");
  }

  Finished bench(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"bench",
                                      "transport",
                                      folder_ / "recipe.yaml",
                                      "--ray-address",
                                      server_.address(),
                                      "--package",
                                      folder_ / "package",
                                      "--compare",
                                      "fast,slow",
                                      "--set",
                                      "fast:GLOO_SOCKET_IFNAME=eth0",
                                      "--set",
                                      "slow:GLOO_SOCKET_IFNAME=eth1",
                                      "--rounds",
                                      "1",
                                      "--steps",
                                      "2",
                                      "--skip",
                                      "1",
                                      "run.dir=" + (folder_ / "runs")};
    words.insert(words.end(), more.begin(), more.end());
    return lockstep(words);
  }
};

TEST_F(BenchOnRay, SubmitsAJobForEachRunWithTheNetworksVariables) {
  trained("fast-1", "10");
  trained("slow-1", "25");
  const Finished finished = bench({"--json", "ray.runtime_env={env_vars: {A: b}, pip: [numpy]}"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(Json::parse(finished.out)["networks"][1]["ratio"]["median"], 2.5);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
  server_.with([&](FakeRay& ray) {
    ASSERT_EQ(ray.submissions.size(), 2U);
    const Json& environment = ray.submissions[1].at("runtime_env");
    EXPECT_EQ(environment.at("env_vars").at("GLOO_SOCKET_IFNAME"), "eth1");
    EXPECT_EQ(environment.at("env_vars").at("A"), "b");
    EXPECT_EQ(environment.at("pip"), Json::array({"numpy"}));
    EXPECT_EQ(ray.submissions[1].at("metadata").at("run_dir"), folder_ / "runs/slow-1");
  });
}

TEST_F(BenchOnRay, AFolderThatIsNotSeenFromHereIsNamed) {
  const Finished finished = bench();
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("runs/fast-1, which is not seen from here"));
}

TEST_F(BenchOnRay, WhatIsWrongIsSaidBeforeAnythingIsSent) {
  EXPECT_THAT(bench({"run.dir=runs/x"}).err, HasSubstr("is relative, and the cluster's nodes"));
  EXPECT_THAT(bench({"scaling.num_workers=4"}).err, HasSubstr("Ray counts 2 GPUs, 4 wanted"));
  server_.with([](FakeRay& ray) { EXPECT_THAT(ray.submissions, IsEmpty()); });
  const Finished finished =
      lockstep({"bench", "transport", "x.yaml", "--compare", "efa,tcp", "--package", folder_.path()});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--ray-address"));
}

// A cluster of two GPUs on Kubernetes, of which Ray takes one for a TPU (gpustack/gpustack#5509).
class DoctorRay : public testing::Test {
 protected:
  DoctorRay() {
    server_.with([](FakeRay& ray) {
      ray.nodes = {node_json("10.0.0.1", "10.0.0.1", true, {{"CPU", 17.0}, {"GPU", 1.0}}),
                   node_json("10.0.0.2", "10.0.0.2", false, {{"CPU", 17.0}, {"TPU", 1.0}})};
    });
    const Json pods = {pod("head", "gpu-a", "10.0.0.1"), pod("worker-1", "gpu-b", "10.0.0.2")};
    std::ofstream(folder_ / "pods.json") << Json({{"items", pods}});
  }

  static Json pod(const std::string& name, const std::string& machine, const std::string& ip) {
    const Json container = {{"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}};
    return {{"metadata", {{"name", name}, {"labels", {{"ray.io/cluster", "ray"}}}}},
            {"spec", {{"nodeName", machine}, {"containers", Json::array({container})}}},
            {"status", {{"phase", "Running"}, {"podIP", ip}}}};
  }

  Finished doctor(std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"doctor", "ray", "--pods", folder_ / "pods.json", "--ray-address", server_.address()});
    return lockstep(more);
  }

  TemporaryFolder folder_;
  cluster::RayServer server_;
};

TEST_F(DoctorRay, NamesTheMachineWhereRayCountsFewerGpusThanKubernetesGave) {
  const Finished finished = doctor();
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(
      finished.err,
      StartsWith("lockstep: error: doctor: gpus: Ray counts 1 GPU, Kubernetes gave 2: gpu-b (pod worker-1) "
                 "was given 1 GPU, and Ray has no GPU but 1 TPU there. Set num-gpus"));
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("ok     nodes            2 live"), HasSubstr("3 checks: 1 fault")));
}

TEST_F(DoctorRay, IsContentOnceRayCountsThemAll) {
  server_.with([](FakeRay& ray) { ray.nodes[1]["resources_total"] = {{"GPU", 1.0}}; });
  const Finished finished = doctor({"--json"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(Json::parse(finished.out).at("faults"), 0);
  std::ofstream(folder_ / "pods.json") << "No resources found";
  EXPECT_EQ(doctor().exit_code, 8);
}

class Jobs : public testing::Test {
 protected:
  Jobs() {
    server_.with([](FakeRay& ray) {
      ray.jobs["good"] = job_json("good", "SUCCEEDED", 0);
      ray.jobs["bad"] = job_json("bad", "FAILED", 3);
      ray.jobs["busy"] = job_json("busy", "RUNNING");
      ray.logs["busy"] = "step 1\n";
    });
  }

  Finished jobs(std::vector<std::string> words) {
    words.insert(words.begin(), "jobs");
    words.insert(words.end(), {"--ray-address", server_.address()});
    return lockstep(words);
  }

  // `lockstep jobs logs busy -f` once it has printed the first line.
  Process follower() {
    Process process = Process::start({.argv = {build_path("bin/lockstep"), "jobs", "logs", "busy", "-f",
                                               "--ray-address", server_.address()},
                                      .standard_output = Output::file(folder_ / "out"),
                                      .standard_error = Output::file(folder_ / "err")});
    while (read_file(folder_ / "out").empty() && !process.poll())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return process;
  }

  void wait_for_words(const std::string& words) {
    while (read_file(folder_ / "err").find(words) == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  TemporaryFolder folder_;
  cluster::RayServer server_;
};

TEST_F(Jobs, AreListedAndAskedAfter) {
  EXPECT_THAT(jobs({"list"}).out, AllOf(HasSubstr("bad   FAILED     3"), HasSubstr("busy  RUNNING    -")));
  EXPECT_EQ(Json::parse(jobs({"list", "--json"}).out).size(), 3);
  EXPECT_EQ(jobs({"status", "bad"}).exit_code, 3);
  EXPECT_EQ(jobs({"status", "bad"}).out, "FAILED with exit code 3\n");
  EXPECT_EQ(jobs({"status", "busy"}).exit_code, 0);
  EXPECT_EQ(jobs({"logs", "busy"}).out, "step 1\n");
  EXPECT_EQ(jobs({"status", "nobody"}).exit_code, 2);
  EXPECT_EQ(jobs({"stop", "busy"}).out, "STOPPED\n");
}

TEST_F(Jobs, AFollowerThatLeavesLeavesTheJobAlone) {
  Process process = follower();
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().shell_code(), 128 + SIGTERM);
  EXPECT_THAT(read_file(folder_ / "err"),
              HasSubstr("lockstep jobs logs busy -f --ray-address " + server_.address() + " returns to it"));
  server_.with([](FakeRay& ray) { EXPECT_EQ(ray.jobs["busy"].at("status"), "RUNNING"); });
}

TEST_F(Jobs, CtrlCTwiceStopsTheJob) {
  Process process = follower();
  process.signal(SIGINT);
  wait_for_words("Ctrl-C again");
  EXPECT_THAT(read_file(folder_ / "err"),
              HasSubstr("lockstep jobs stop busy --ray-address " + server_.address() + " stops it"));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().shell_code(), 12);
  EXPECT_THAT(read_file(folder_ / "err"), HasSubstr("stopping job busy"));
  server_.with([](FakeRay& ray) { EXPECT_EQ(ray.jobs["busy"].at("status"), "STOPPED"); });
}

}  // namespace
}  // namespace lockstep::cli
