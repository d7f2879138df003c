#include "lockstep/cluster/image/running_image.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/cluster/image/image_changes.h"

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

std::string digest(char digit) { return "sha256:" + std::string(64, digit); }

ImageLock lock() {
  return {.image = "r.example/train/ray@" + digest('a'), .manifest = digest('b'), .config = digest('c')};
}

Json pod(const std::string& name, const std::string& asked, const std::string& image_id) {
  Json pod = {
      {"metadata", {{"name", name}}},
      {"spec", {{"nodeName", "gpu-0"}, {"containers", {{{"name", "ray-worker"}, {"image", asked}}}}}}};
  if (!image_id.empty())
    pod["status"]["containerStatuses"] = {{{"name", "ray-worker"}, {"imageID", image_id}}};
  return pod;
}

RunningImage judged(const std::string& asked, const std::string& image_id) {
  return running_images({{"items", {pod("w", asked, image_id)}}}, lock()).at(0);
}

TEST(RunningImages, AnyOfAnImagesThreeDigestsIsTheLockedOne) {
  const std::string asked = lock().image;
  EXPECT_EQ(judged(asked, "r.example/train/ray@" + digest('a')).state, ImageState::kLocked);
  EXPECT_EQ(judged(asked, "docker-pullable://r.example/train/ray@" + digest('b')).state, ImageState::kLocked);
  EXPECT_EQ(judged(asked, digest('c')).state, ImageState::kLocked);
  EXPECT_EQ(judged(asked, digest('c')).remark, "");
  const RunningImage other = judged(asked, "r.example/train/ray@" + digest('d'));
  EXPECT_EQ(other.state, ImageState::kOther);
  EXPECT_THAT(other.remark, HasSubstr("runs r.example/train/ray@sha256:ddd"));
}

TEST(RunningImages, AMirrorOfTheSameBytesIsTheSameImage) {
  EXPECT_EQ(judged("mirror/x@" + digest('a'), "mirror/x@" + digest('a')).state, ImageState::kLocked);
}

TEST(RunningImages, ATagThatHappensToBeRightIsRemarked) {
  const RunningImage found = judged("r.example/train/ray:v1.0", digest('a'));
  EXPECT_EQ(found.state, ImageState::kLocked);
  EXPECT_THAT(found.remark, HasSubstr("a tag: the next start may bring another"));
}

TEST(RunningImages, WhatRunsNothingYetIsNotCalledLocked) {
  EXPECT_EQ(judged(lock().image, "").state, ImageState::kNotStarted);
  Json waiting = pod("w", lock().image, "");
  waiting["spec"].erase("nodeName");
  waiting["status"] = {{"phase", "Pending"}};
  const auto found = running_images({{"items", {waiting}}}, lock());
  EXPECT_EQ(found.at(0).state, ImageState::kNotStarted);
  EXPECT_THAT(running_images_text(found), HasSubstr("not started  w/ray-worker on no node yet"));
}

TEST(RunningImages, ASidecarCountsOnlyWhenItComesFromTheLocksRepository) {
  Json p = pod("w", lock().image, digest('a'));
  p["spec"]["containers"].push_back({{"name", "logs"}, {"image", "fluent/fluent-bit:3"}});
  p["spec"]["initContainers"] = {{{"name", "wait-gcs-ready"}, {"image", "r.example/train/ray:v0.9"}}};
  p["status"]["initContainerStatuses"] = {{{"name", "wait-gcs-ready"}, {"imageID", digest('d')}}};
  const auto found = running_images({{"items", {p}}}, lock());
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[1].container, "wait-gcs-ready");
  EXPECT_EQ(found[1].state, ImageState::kOther);
  EXPECT_EQ(running_images_json(found).at(1).at("state"), "other");
}

TEST(RunningImages, AnotherShapeIsSaid) {
  for (const char* text : {"{}", "[]", R"({"items": [{}]})", R"({"items": 3})"}) {
    EXPECT_THAT([&] { running_images(Json::parse(text), lock()); },
                ThrowsMessage<CommandError>(HasSubstr("cannot be understood")))
        << text;
  }
}

TEST(ImageChanges, AreWhatIsNewInTheImage) {
  ImageLock before = lock(), after = lock();
  before.components = {{"cuda", "12.9.1"}, {"ray", "2.56.0"}};
  EXPECT_THAT(image_changes(before, after), IsEmpty());
  after.image = "r.example/train/ray@" + digest('e');
  after.components = {{"cuda", "13.0.2"}, {"ray", "2.56.0"}, {"nccl", "2.28.9"}};
  EXPECT_EQ(image_changes_text(image_changes(before, after)),
            "image  " + before.image + " -> " + after.image +
                "\ncuda   12.9.1 -> 13.0.2\nnccl   not stated -> 2.28.9");
}

}  // namespace
}  // namespace lockstep::cluster
