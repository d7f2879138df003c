// What an image's own config tells about what is in it: OCI Image Specification 1.1, config.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cluster {

// One part of an image that matters to training.
struct ImageComponent {
  std::string name;     // as component_names() has it
  std::string version;  // its first numbers: "2.28.9" of "2.28.9-1+cuda13.0"; empty when not stated
  std::string
      stated_by;  // "variable CUDA_VERSION", "label ...", "build argument EFA_VERSION"; empty when not stated
};

struct ImageConfig {
  std::string platform;  // "linux/amd64"
  std::string created;   // RFC 3339, as written; empty when it does not say
  std::map<std::string, std::string> environment, labels;
  // Of the commands that built it, as far as its history tells ("RUN |2 EFA_VERSION=1.47.0 ..."); later ones
  // win.
  std::map<std::string, std::string> build_arguments;

  // Throws CommandError, naming `what`, for something else than a config.
  static ImageConfig parse(const std::string& json, const std::string& what);

  // All of component_names(), in that order. An image states what its makers wrote down: a package that was
  // installed later can be another one, which only `lockstep doctor node` in a container sees.
  std::vector<ImageComponent> components() const;
};

// "cuda", "nccl", "efa", "aws-ofi-nccl", "python", "torch", "ray".
const std::vector<std::string>& component_names();

}  // namespace lockstep::cluster
