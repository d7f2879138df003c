#include "lockstep/cluster/image/image_config.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

ImageComponent component(const std::string& json, const std::string& name) {
  for (const ImageComponent& found : ImageConfig::parse(json, "x").components()) {
    if (found.name == name) return found;
  }
  return {};
}

TEST(ImageConfig, VersionsStandInVariablesLabelsAndBuildArguments) {
  const std::string json = R"({"os": "linux", "architecture": "amd64", "created": "2026-01-02T03:04:05Z",
    "config": {"Env": ["PATH=/bin", "CUDA_VERSION=13.0.2", "NCCL_VERSION=2.28.9-1"],
               "Labels": {"framework": "ray", "framework_version": "2.56.0"}},
    "history": [{"created_by": "RUN |2 TORCH_VERSION=2.12.0 EFA_VERSION=1.47.0 /bin/sh -c # buildkit"},
                {"created_by": "/bin/sh -c #(nop) CMD [\"bash\"]"},
                {"created_by": "|1 TORCH_VERSION=2.13.0+cu130 /bin/sh -c RAY_VERSION=9 true"}, {}]})";
  EXPECT_EQ(ImageConfig::parse(json, "x").platform, "linux/amd64");
  EXPECT_EQ(component(json, "cuda").version, "13.0.2");
  EXPECT_EQ(component(json, "cuda").stated_by, "variable CUDA_VERSION");
  EXPECT_EQ(component(json, "nccl").version, "2.28.9");
  EXPECT_EQ(component(json, "efa").version, "1.47.0");
  EXPECT_EQ(component(json, "efa").stated_by, "build argument EFA_VERSION");
  EXPECT_EQ(component(json, "torch").version, "2.13.0");
  EXPECT_EQ(component(json, "ray").version, "2.56.0");
  EXPECT_EQ(component(json, "ray").stated_by, "label framework_version");
}

TEST(ImageConfig, WhatIsNotStatedIsNotGuessed) {
  const std::string json = R"({"os": "linux", "architecture": "arm64",
    "config": {"Env": ["CUDA_VERSION=", "NCCL_VERSION=latest", "NO_EQUALS"], "Labels": null}})";
  for (const ImageComponent& found : ImageConfig::parse(json, "x").components()) {
    EXPECT_EQ(found.version, "") << found.name;
    EXPECT_EQ(found.stated_by, "") << found.name;
  }
}

TEST(ImageConfig, AnotherShapeIsSaid) {
  for (const char* text : {"", "[]", "{}", R"({"os": 1, "architecture": "x"})",
                           R"({"os": "linux", "architecture": "x", "history": [{"created_by": 1}]})"}) {
    EXPECT_THAT([&] { ImageConfig::parse(text, "ray:v1"); },
                ThrowsMessage<CommandError>(HasSubstr("config of ray:v1")))
        << text;
  }
}

}  // namespace
}  // namespace lockstep::cluster
