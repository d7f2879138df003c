// `lockstep cluster submit` and `fetch`: kubectl, the API server and the way through it into the head's
// container are real, and so are the programs that run there, but for `lockstep` itself, `ray` and `aws`,
// which are a few lines of shell.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "eks_on_bed.h"
#include "lockstep/base/env_var.h"
#include "lockstep/base/error.h"
#include "lockstep/cluster/job_package.h"
#include "lockstep/cluster/pod/pod_job.h"
#include "lockstep/cluster/pod/put_folder.h"
#include "lockstep/cluster/pod/run_fetch.h"
#include "ray_cluster_fixture.h"
#include "tests/cluster/variable.h"

namespace lockstep::kube {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

void write_program(const std::string& path, const std::string& script) {
  std::ofstream(path) << "#!/bin/sh\n" << script;
  fs::permissions(path, fs::perms::owner_all);
}

// Of a job whose log has four lines. The first stream of it stays open and brings half of them, the second
// ends too early, the third goes to the end: the job was refused by the transport gate.
constexpr const char* kLockstep = R"(
state=STATE
echo "$*" >>$state/calls
case "$1 $2" in
  "--version ") echo 0.1.0 ;;
  "submit "*) cp "$2" $state/submitted.yaml ;;
  "jobs logs")
    echo stream >>$state/streams
    case $(wc -l <$state/streams) in
      1) printf 'line 1\nline 2\n'; exec sleep 100 ;;
      2) printf 'line 1\nline 2\nline 3\n' ;;
      *) printf 'line 1\nline 2\nline 3\nrank 0 and rank 4: socket\n'; touch $state/over; exit 5 ;;
    esac ;;
  "jobs status")
    [ -e $state/over ] || { echo '{"status": "RUNNING", "exit_code": null}'; exit 0; }
    echo '{"status": "FAILED", "exit_code": 5, "message": ""}'; exit 5 ;;
esac
)";

constexpr const char* kRecipe = R"(
name: first
model: {source: /fsx/model}
data: {shape: text, sources: [{path: /fsx/text.jsonl}], sequence_length: 64}
train: {steps: 20, global_batch: 8, micro_batch: 1}
run: {dir: /fsx/runs/first}
)";

class KubeCoreJob : public RayClusterOnKubernetes {
 protected:
  void SetUp() override {
    RayClusterOnKubernetes::SetUp();
    bed_.add_program("python", "exec /usr/bin/python3 \"$@\"");
    bed_.add_program("ray", "echo ' 0.0/8.0 GPU'");
    make_package();
    std::ofstream(folder_ / "recipe.yaml") << kRecipe;
    std::ofstream(cluster_file()) << "image: {reference: \"registry.example/train/ray@sha256:aa\"}\n";
    std::ofstream(folder_ / "vpc-of-gpu-1") << "vpc-1";
    write_program(folder_ / "aws", "state=" + folder_.path() + "\nkubeconfig=" + bed_.kubeconfig() + R"(
case "$1 $2" in
  "eks update-kubeconfig") while [ "$1" != --kubeconfig ]; do shift; done; cp $kubeconfig "$2" ;;
  "ec2 describe-instances") echo '{"Reservations": [{"Instances": [
    {"InstanceId": "i-gpu-0", "VpcId": "vpc-1"}, {"InstanceId": "i-gpu-1", "VpcId": "'$(cat $state/vpc-of-gpu-1)'"}]}]}' ;;
esac
)");
  }
  void TearDown() override {
    bed_.kubectl({"label", "node", "gpu-1", "topology.kubernetes.io/zone=us-east-1a", "--overwrite"});
    fs::remove_all(bed_.temporary_folder() + "/lockstep");
    RayClusterOnKubernetes::TearDown();
  }

  void make_package() {
    const std::string package = folder_ / "package";
    fs::create_directories(package + "/bin");
    std::string program = kLockstep;
    program.replace(program.find("STATE"), 5, folder_.path());
    write_program(package + "/bin/lockstep", program);
    std::ofstream(package + "/package.json") << R"({"version": 1, "torch_version": ""})";
    fs::copy(source_path("python/lockstep_ray/lockstep_ray"), package + "/lockstep_ray");
  }

  std::string cluster_file() const { return folder_ / "cluster.yaml"; }
  cli::Finished run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "cluster");
    arguments.insert(arguments.end(), {"--cluster", cluster_file()});
    return cli::lockstep(arguments);
  }
  cli::Finished submit(std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"submit", folder_ / "recipe.yaml", "train.steps=5", "--package", folder_ / "package"});
    return run(more);
  }
  std::string calls() const { return read_file(folder_ / "calls"); }
  void skip_to_the_last_stream() { std::ofstream(folder_ / "streams") << "stream\nstream\n"; }

  const TemporaryFolder folder_;
  const cluster::Variable path_{
      "PATH",
      (folder_.path() + ":" LOCKSTEP_KUBE_TOOLS ":" + env_var("PATH").value_or("/usr/bin:/bin")).c_str()};
};

TEST_F(KubeCoreJob, IsSubmittedFromInsideTheHeadAndEndsWithItsOwnExitCode) {
  skip_to_the_last_stream();
  const auto done = submit({"--submission-id", "first-1"});
  EXPECT_EQ(done.exit_code, 5) << done.err;
  EXPECT_EQ(done.out, "line 1\nline 2\nline 3\nrank 0 and rank 4: socket\n");
  EXPECT_THAT(done.err, AllOf(HasSubstr("8 GPUs in 2 pods"), HasSubstr("submitted job first-1"),
                              HasSubstr("job first-1: FAILED with exit code 5: the network was refused")));
  EXPECT_EQ(read_file(folder_ / "submitted.yaml"), kRecipe);
  EXPECT_THAT(calls(), HasSubstr("first-1/recipe.yaml train.steps=5 --submission-id first-1 --no-wait\n"));

  // Another job of the same build finds its package there.
  EXPECT_EQ(submit({"--submission-id", "first-2", "--no-wait"}).out, "first-2\n");
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(bed_.temporary_folder() + "/lockstep"))
    folders.push_back(entry.path().filename().string().substr(0, 8));
  std::sort(folders.begin(), folders.end());
  EXPECT_THAT(folders, ElementsAre("_ray_pkg", "first-1", "first-2"));
  EXPECT_EQ(run({"submit", folder_ / "recipe.yaml", "--package", folder_ / "package", "--attach", "first-1"})
                .exit_code,
            5);
}

TEST_F(KubeCoreJob, IsNotSentToAClusterThatItCouldNotUse) {
  const auto refusal = [&] {
    const auto done = submit();
    EXPECT_EQ(done.exit_code, 2) << done.err;
    return done.err;
  };
  bed_.add_program("ray", "echo ' 0.0/4.0 GPU'");
  EXPECT_THAT(refusal(), HasSubstr("Ray sees 4 GPUs, Kubernetes gave 8"));
  std::ofstream(folder_ / "vpc-of-gpu-1") << "vpc-2";
  EXPECT_THAT(refusal(), HasSubstr("not in one VPC (vpc-1: gpu-0; vpc-2: gpu-1)"));
  bed_.kubectl({"label", "node", "gpu-1", "topology.kubernetes.io/zone=us-east-1b", "--overwrite"});
  EXPECT_THAT(refusal(), HasSubstr("not in one availability zone (us-east-1a: gpu-0; us-east-1b: gpu-1)"));
  EXPECT_FALSE(fs::exists(bed_.temporary_folder() + "/lockstep"));
  EXPECT_EQ(calls(), "");
}

// Cuts the first connection whose command has `word`, after `time`: to who called, the network has gone.
class Cutting : public EksOnBed {
 public:
  using EksOnBed::EksOnBed;
  cluster::CommandResult run(const cluster::Command& command) override {
    if (word.empty() || cluster::command_line(command).find(word) == std::string::npos)
      return EksOnBed::run(command);
    word.clear();
    cluster::Command cut = command;
    cut.timeout = time;
    EksOnBed::run(cut);
    return {.exit_code = 1, .err = "error: unexpected EOF\n"};
  }

  std::string word;
  std::chrono::milliseconds time{0};
};

// The head without the command line around it.
struct Direct {
  explicit Direct(KubeBed& bed) : runner(bed) {}
  void cut(const std::string& word, std::chrono::milliseconds time) {
    runner.word = word, runner.time = time;
  }

  Cutting runner;
  const cluster::eks::Surroundings surroundings = runner.surroundings();
  const cluster::eks::Deployment deployment =
      cluster::eks::assumed_deployment(cluster::eks::ClusterSettings::parse("", "cluster.yaml"));
  cluster::eks::Kubernetes kubernetes{runner, deployment};
  cluster::pod::HeadPod head{kubernetes, deployment};
};

TEST_F(KubeCoreJob, ABrokenStreamIsTakenUpWhereItWas) {
  Direct direct(bed_);
  const auto package = cluster::make_job_package({.folder = folder_ / "package"});
  cluster::pod::PodJobs jobs(direct.head, cluster::pod::put_folder(direct.head, "package", package.files),
                             direct.surroundings);
  direct.cut("logs job -f", std::chrono::seconds(1));
  std::string log;
  const auto job = jobs.follow("job", [&](std::string_view text) { log += text; });
  EXPECT_EQ(log, "line 1\nline 2\nline 3\nrank 0 and rank 4: socket\n");
  EXPECT_EQ(job.exit_code, 5);
  EXPECT_THAT(
      direct.runner.said,
      ElementsAre(HasSubstr("broke off (kubectl exec ray-train-cluster-head-"), HasSubstr("here again"),
                  HasSubstr("broke off (it ended before the job did)"), HasSubstr("here again")));
}

// Its answer is lost after it arrived: it is not sent again.
TEST_F(KubeCoreJob, ASubmissionWhoseAnswerIsLostIsMadeOnce) {
  Direct direct(bed_);
  const auto package = cluster::make_job_package({.folder = folder_ / "package"});
  cluster::pod::PodJobs jobs(direct.head, cluster::pod::put_folder(direct.head, "package", package.files),
                             direct.surroundings);
  direct.cut("--no-wait", std::chrono::seconds(20));
  jobs.submit({.id = "job", .files = {{.name = "recipe.yaml", .text = kRecipe}}, .recipe = "recipe.yaml"});
  const std::string all = calls();
  EXPECT_EQ(all.find("submit "), all.rfind("submit ")) << all;
  EXPECT_THAT(direct.runner.said, ElementsAre(HasSubstr("looking whether Ray has the job")));
}

TEST_F(KubeCoreJob, FetchBringsARunWholeOrSaysSo) {
  const std::string run = folder_ / "first", here = folder_ / "here";
  fs::create_directories(run + "/metrics");
  fs::create_directories(run + "/checkpoints/step-1");
  std::ofstream(run + "/metrics/g001.jsonl") << "{}\n";
  std::ofstream(run + "/empty") << "";
  std::string bytes(3 << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 7);
  std::ofstream(run + "/checkpoints/step-1/shard", std::ios::binary) << bytes;
  const auto fetch = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"fetch", run, "--output", here});
    return this->run(more);
  };
  EXPECT_THAT(fetch({"--no-checkpoints"}).out, HasSubstr("/here: 2 files"));
  EXPECT_FALSE(fs::exists(here + "/checkpoints"));
  EXPECT_THAT(fetch({}).err, HasSubstr("is there already: --continue brings what it lacks"));
  std::ofstream(here + "/metrics/g001.jsonl") << "[]\n";
  EXPECT_THAT(fetch({"--continue"}).out, HasSubstr("/here: 2 files, 3.00 MiB; 1 were there"));
  EXPECT_EQ(cli::shell("diff -r " + run + " " + here).out, "");
  EXPECT_THAT(this->run({"fetch", "/fsx/none"}).err, HasSubstr("Ray's head has no folder /fsx/none"));
}

TEST_F(KubeCoreJob, AFetchThatBreaksOffLeavesNothingHalfWrittenOrWrong) {
  const std::string run = folder_ / "first";
  fs::create_directories(run);
  for (const char* name : {"a", "b", "c"})
    std::ofstream(run + "/" + name, std::ios::binary) << std::string(1 << 20, *name);
  // What sends them the first time ends in the middle of the second; the other time the third is another by
  // then.
  for (const char* fault : {"head -c 1500000; exit 1", "tr c d; exit 0"}) {
    fs::remove(folder_ / "whole");
    bed_.add_program("python", "case \"$2\" in *shorter*) [ -e " + (folder_ / "whole") +
                                   " ] || { /usr/bin/python3 \"$@\" | " + fault +
                                   "; };; esac\nexec /usr/bin/python3 \"$@\"");
    const std::string here = folder_ / std::string("here-") + fault[0];
    std::string there_then;
    Direct direct(bed_);
    cluster::eks::Surroundings surroundings = direct.surroundings;
    surroundings.say = [&](const std::string&) {
      there_then += cli::shell("ls " + here).out;
      std::ofstream(folder_ / "whole") << "";
    };
    const auto fetched = cluster::pod::fetch_run(direct.head, {.run = run, .target = here}, surroundings);
    EXPECT_EQ(there_then, fault[0] == 'h' ? "a\n" : "a\nb\n");
    EXPECT_EQ(fetched.files, 3);
    EXPECT_EQ(cli::shell("diff -r " + run + " " + here).out, "");
  }
}

}  // namespace
}  // namespace lockstep::kube
