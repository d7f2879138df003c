// What a cluster is to be: cluster.yaml, typed and checked. docs/cluster.md describes every key.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::cluster::eks {

struct SystemNodes {
  std::string name = "system";
  std::string type = "m7i.xlarge";
  int64_t count = 1;
  int64_t volume_gib = 80;
};

struct GpuNodes {
  std::string name = "gpu-workers";
  std::string type = "g6.12xlarge";
  int64_t count = 2;
  std::vector<std::string> zones;               // where they may be; empty: wherever the type is offered
  std::string capacity = "search";              // search, on_demand, spot, reservation, capacity_block
  std::string reservation;                      // "cr-…", of capacity: reservation and capacity_block
  std::chrono::seconds reserve_for{12 * 3600};  // of capacity: search: when the reservation ends by itself
  std::optional<int64_t> efa;                   // interfaces a pod asks for; absent: all that the type has
  int64_t volume_gib = 200;                     // the image alone takes 30
};

struct HeadPod {
  int64_t cpus = 3;
  int64_t memory_gib = 10;
};

struct WorkerPod {
  std::optional<int64_t> cpus, memory_gib;  // absent: five sixths of the type's, or what fits
};

struct VpcSettings {
  std::string id;                                      // an existing one; empty: eksctl makes one
  std::map<std::string, std::string> private_subnets;  // of an existing one: zone -> subnet
  std::string nat = "single";                          // single, highly_available, none
};

struct ImageSettings {
  std::string reference = "public.ecr.aws/deep-learning-containers/ray:train-ml-cuda-v1.1";
  std::string ray_version = "2.58.0";
  bool is_pinned() const { return reference.find("@sha256:") != std::string::npos; }
};

struct ChartVersions {
  std::string kuberay = "1.6.2";
  std::string nvidia_plugin = "0.20.0";
  std::string efa_plugin = "v0.5.32";
};

struct StorageSettings {
  std::string s3;                      // "s3://bucket/prefix" that the pods may use
  std::string fsx_id, fsx_mount_name;  // an existing FSx for Lustre file system, mounted at /fsx
};

struct ClusterSettings {
  std::string name = "lockstep";
  std::string region;  // absent: that of the zones, else us-east-2
  std::string kubernetes_version = "1.36";
  bool existing = false;           // the cluster is there: only what training needs is added
  std::vector<std::string> zones;  // the cluster's; empty: chosen
  VpcSettings vpc;
  SystemNodes system_nodes;
  GpuNodes gpu_nodes;
  HeadPod head;
  WorkerPod worker;
  ImageSettings image;
  ChartVersions charts;
  std::string namespace_name = "ray-train";
  std::string ray_cluster = "ray-train-cluster";
  std::string network_require = "efa";  // efa or any
  StorageSettings storage;
  std::optional<std::chrono::seconds> expires_after;  // then the GPU nodes are scaled to none

  // From cluster.yaml, or from a file of shell variables when the path ends in .sh or .env (env_file.h).
  // `overrides` are "key=value". Throws ConfigError with file, line, value and way out; everything that can
  // be known to be wrong without asking anybody is.
  static ClusterSettings load(const std::string& path, const std::vector<std::string>& overrides);
  static ClusterSettings parse(const std::string& yaml, const std::string& origin,
                               const std::vector<std::string>& overrides = {});

  bool uses_efa() const { return network_require == "efa"; }
  // All keys with their values; null for what is not set.
  Json effective() const;
};

}  // namespace lockstep::cluster::eks
