#include "lockstep/cluster/image/image_reference.h"

#include <gmock/gmock.h>

#include "tests/base/refusal.h"

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;

const std::string kDigest = "sha256:" + std::string(64, 'a');

TEST(ImageReference, IsReadAsDockerDoes) {
  const auto ecr = ImageReference::parse("public.ecr.aws/deep-learning-containers/ray:v1.0");
  EXPECT_EQ(ecr.registry, "public.ecr.aws");
  EXPECT_EQ(ecr.repository, "deep-learning-containers/ray");
  EXPECT_EQ(ecr.tag, "v1.0");
  EXPECT_EQ(ecr.origin(), "https://public.ecr.aws");
  const auto pinned = ImageReference::parse("localhost:5000/ray:v1@" + kDigest);
  EXPECT_EQ(pinned.tag, "v1");
  EXPECT_EQ(pinned.text(), "localhost:5000/ray@" + kDigest);
  EXPECT_EQ(pinned.origin(), "http://localhost:5000");
  EXPECT_EQ(ImageReference::parse("python").text(), "docker.io/library/python:latest");
  EXPECT_EQ(ImageReference::parse("rayproject/ray:2.58.0").origin(), "https://registry-1.docker.io");
  EXPECT_EQ(ImageReference::parse("[::1]:5000/x").origin(), "http://[::1]:5000");
  EXPECT_EQ(ImageReference::parse("127.example.com/x").origin(), "https://127.example.com");
}

TEST(ImageReference, WhatIsNoneIsRefusedWithThePartThatIsWrong) {
  const auto refusal = [](const std::string& text) {
    return refusal_of([&] { ImageReference::parse(text); });
  };
  EXPECT_THAT(refusal("ray@sha256:12"), HasSubstr("\"sha256:12\" is not sha256: and 64 hex digits"));
  EXPECT_THAT(refusal("Ray:v1"), HasSubstr("\"library/Ray\" is no repository"));
  EXPECT_THAT(refusal("ray:"), HasSubstr("\"\" is no tag"));
  EXPECT_THAT(refusal("https://ray.io/x"), HasSubstr("is no image"));
  EXPECT_THAT(refusal(""), HasSubstr("is no image"));
  EXPECT_THAT(refusal("a.b:x/ray"), HasSubstr("\"a.b:x\" is no registry's"));
}

TEST(FrozenTag, HasThreeNumbers) {
  for (const char* tag : {"v1.2.3", "2.56-gpu-v1.0.12"}) EXPECT_TRUE(is_frozen_tag(tag)) << tag;
  for (const char* tag : {"v1.2", "latest", "1.2.3", "v1.2.3-rc1", "xv1.2.3"})
    EXPECT_FALSE(is_frozen_tag(tag)) << tag;
}

}  // namespace
}  // namespace lockstep::cluster
