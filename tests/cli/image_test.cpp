// `lockstep image` with a real registry, and with a kubectl that prints what the test wrote.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/cluster/image/image_lock.h"
#include "lockstep_program.h"
#include "tests/cluster/image/registry_server.h"
#include "tests/cluster/variable.h"

namespace lockstep::cli {
namespace {

using cluster::PushedImage;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Image : public testing::Test {
 protected:
  Image() : server_(folder_ / "registry"), docker_("DOCKER_CONFIG", folder_.path().c_str()) {
    std::filesystem::create_directory(folder_ / "bin");
    const std::string kubectl = folder_ / "bin/kubectl";
    std::ofstream(kubectl) << "#!/bin/sh\necho \"$@\" >>" << folder_ / "asked"
                           << "\ncat " << folder_ / "pods"
                           << "\n";
    std::filesystem::permissions(kubectl, std::filesystem::perms::owner_all);
    path_.emplace("PATH", (folder_ / "bin:" + env_var("PATH").value_or("/usr/bin:/bin")).c_str());
  }

  Finished make_lock(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"image", "lock", server_.image(tag_).text(), "--output", lock_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return lockstep(arguments);
  }
  void write_pods(const std::vector<std::string>& image_ids) {
    Json items = Json::array();
    for (const std::string& id : image_ids) {
      items.push_back({{"metadata", {{"name", "w"}}},
                       {"spec", {{"containers", {{{"name", "ray"}, {"image", "x@" + id}}}}}},
                       {"status", {{"containerStatuses", {{{"name", "ray"}, {"imageID", "x@" + id}}}}}}});
    }
    std::ofstream(folder_ / "pods") << Json{{"items", items}}.dump();
  }

  // Settings of a cluster that runs an image, a recipe, and a package without a program.
  void write_cluster(const std::string& image) {
    const auto write = [&](const std::string& name, const std::string& text) {
      std::ofstream(folder_ / name) << text;
    };
    write("cluster.yaml", "image: {reference: \"" + image + "\"}\n");
    write("recipe.yaml",
          "name: first\nmodel: {source: /fsx/model}\ntrain: {epochs: 2}\nrun: {dir: /fsx/runs/first}\n"
          "data: {shape: text, sources: [{path: /fsx/text.jsonl}], held_out: \"0.1\"}\n"
          "checkpoint: {interval_steps: 100}\n");
    std::filesystem::create_directory(folder_ / "package");
    write("package/package.json", R"({"version": 1, "torch_version": ""})");
    write("bin/aws", "#!/bin/sh\n");
    std::filesystem::permissions(folder_ / "bin/aws", std::filesystem::perms::owner_all);
  }
  Finished update(std::vector<std::string> more) {
    more.insert(more.begin(), {"image", "update", lock_, "--cluster", folder_ / "cluster.yaml"});
    return lockstep(more);
  }
  Finished accept(std::vector<std::string> more) {
    more.insert(more.begin(),
                {"--accept", "--recipe", folder_ / "recipe.yaml", "--package", folder_ / "package"});
    return update(more);
  }

  TemporaryFolder folder_;
  cluster::RegistryServer server_;
  cluster::Variable docker_;
  std::optional<cluster::Variable> path_;
  std::string tag_ = "v1.0", lock_ = folder_ / "images/ray.lock.yaml";
};

TEST_F(Image, LockWritesDownWhatATagIs) {
  const PushedImage pushed = server_.push({.environment = {"CUDA_VERSION=13.0.2"}}, tag_);
  const Finished finished = make_lock();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr(pushed.manifest), HasSubstr("cuda          13.0.2 (variable CUDA_VERSION)"),
                    HasSubstr("nccl          not stated"), HasSubstr("may be moved to another image")));
  const auto lock = cluster::ImageLock::load(lock_);
  EXPECT_EQ(lock.image, server_.image(pushed.manifest).text());
  EXPECT_EQ(lock.tag, "v1.0");
  EXPECT_EQ(lock.components.at("cuda"), "13.0.2");
}

TEST_F(Image, LockNeverReplacesALock) {
  server_.push({}, tag_);
  EXPECT_EQ(make_lock().exit_code, 0);
  const Finished again = make_lock();
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("is there already: lockstep image update"));
}

TEST_F(Image, UpdateShowsWhatMovedAndChangesNothing) {
  const PushedImage before = server_.push({.environment = {"CUDA_VERSION=12.9.1"}}, tag_);
  make_lock();
  EXPECT_THAT(lockstep({"image", "update", lock_}).out, HasSubstr("is still the locked image"));
  const PushedImage after = server_.push({.environment = {"CUDA_VERSION=13.0.2"}}, tag_);
  const Finished moved = lockstep({"image", "update", lock_});
  EXPECT_EQ(moved.exit_code, 0) << moved.err;
  EXPECT_THAT(moved.out, AllOf(HasSubstr("has moved since 2"), HasSubstr(before.manifest),
                               HasSubstr(after.manifest), HasSubstr("12.9.1 -> 13.0.2")));
  EXPECT_EQ(Json::parse(lockstep({"image", "update", lock_, "--json"}).out).at("moved"), true);
  EXPECT_EQ(cluster::ImageLock::load(lock_).image, server_.image(before.manifest).text());
}

TEST_F(Image, AFrozenTagThatMovedIsAnError) {
  tag_ = "v1.0.3";
  server_.push({}, tag_);
  EXPECT_THAT(make_lock().out, HasSubstr("should stay as it is"));
  server_.push({.environment = {"A=1"}}, tag_);
  const Finished moved = lockstep({"image", "update", lock_});
  EXPECT_EQ(moved.exit_code, 6);
  EXPECT_THAT(moved.err, AllOf(StartsWith("lockstep: error: "), HasSubstr("published once")));
}

TEST_F(Image, AcceptSaysWhatItWillDoAndDoesNothingWithoutYes) {
  const PushedImage before = server_.push({}, tag_);
  make_lock();
  write_cluster(server_.image(before.manifest).text());
  EXPECT_THAT(accept({"--yes"}).out, HasSubstr("is still the locked image"));
  const PushedImage after = server_.push({.environment = {"A=1"}}, tag_);
  const Finished asked = accept({});
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_THAT(asked.out,
              AllOf(HasSubstr("accepting it takes the cluster lockstep in us-east-2 for itself"),
                    HasSubstr("20 steps of " + folder_ / "recipe.yaml"), HasSubstr("30 minutes at most")));
  EXPECT_THAT(asked.err, HasSubstr("nothing was changed: --yes does it"));
  EXPECT_EQ(read_file(folder_ / "asked"), "") << "of kubectl";

  write_pods({before.manifest});
  const Finished dry = accept({"--dry-run", "optimizer.lr=0.01"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out,
              AllOf(HasSubstr("lockstep cluster doctor " + folder_ / "cluster.yaml\n"),
                    HasSubstr("lockstep cluster submit " + folder_ / "recipe.yaml optimizer.lr=0.01 "),
                    HasSubstr("kubectl apply -f - < raycluster.yaml\n"),
                    HasSubstr("kubectl delete pods w --namespace ray-train")));
  EXPECT_THAT(read_file(folder_ / "asked"), testing::Not(HasSubstr("apply")));
  write_pods({after.manifest});
  EXPECT_EQ(accept({"--yes"}).exit_code, 6) << "not the locked one";
  EXPECT_EQ(cluster::ImageLock::load(lock_).image, server_.image(before.manifest).text());
}

TEST_F(Image, WhatAcceptCannotDoIsSaidBeforeAnybodyIsAsked) {
  const PushedImage pushed = server_.push({}, tag_);
  make_lock();
  write_cluster(server_.image(pushed.manifest).text());
  EXPECT_THAT(update({"--accept"}).err, HasSubstr("--accept needs --recipe FILE"));
  EXPECT_THAT(accept({"run.dir=runs/first"}).err, HasSubstr("is relative"));
  EXPECT_THAT(accept({"run.dir=s3://lab/first"}).err, HasSubstr("from a folder that Ray's head sees"));
  EXPECT_THAT(update({"--slower", "3"}).err, HasSubstr("--slower requires --accept"));
  EXPECT_THAT(update({"--back"}).err,
              HasSubstr("nothing was changed: --yes replaces Ray's pods in lockstep"));
}

TEST_F(Image, CheckComparesWhatRunsWithTheLock) {
  const PushedImage pushed = server_.push({}, tag_);
  make_lock();
  write_pods({pushed.manifest});
  EXPECT_EQ(lockstep({"image", "check", lock_, "-n", "ray", "--context", "c"}).exit_code, 0);
  EXPECT_EQ(read_file(folder_ / "asked"),
            "get pods --output=json --selector=ray.io/cluster --context=c --namespace=ray\n");
  write_pods({pushed.manifest, "sha256:" + std::string(64, 'd')});
  const Finished drifted = lockstep({"image", "check", lock_});
  EXPECT_EQ(drifted.exit_code, 6);
  EXPECT_THAT(drifted.out, HasSubstr("other        w/ray"));
  EXPECT_THAT(drifted.err, HasSubstr("1 of 2 containers do not run the locked image"));
  EXPECT_EQ(Json::parse(lockstep({"image", "check", lock_, "--json"}).out).at("containers").at(1).at("state"),
            "other");
  write_pods({});
  EXPECT_THAT(lockstep({"image", "check", lock_}).err, HasSubstr("no pod with ray.io/cluster is there"));
}

TEST_F(Image, ALockWithoutADigestOrATagCannotBeFollowed) {
  std::filesystem::create_directory(folder_ / "images");
  std::ofstream(lock_) << "version: 1\nimage: r.example/ray:v1\n";
  EXPECT_THAT(lockstep({"image", "check", lock_}).err, HasSubstr("must be REPOSITORY@sha256:"));
  std::ofstream(lock_) << "version: 1\nimage: r.example/ray@sha256:" << std::string(64, 'a') << "\n";
  EXPECT_THAT(lockstep({"image", "update", lock_}).err, HasSubstr("follows no tag"));
}

}  // namespace
}  // namespace lockstep::cli
