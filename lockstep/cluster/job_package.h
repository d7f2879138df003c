// What a job needs on the cluster's nodes, as one zip: Ray unpacks it on each of them, and it is the working
// directory of driver and workers.
//
//   job.json      {"version": 1, "program": "bin/lockstep", "arguments": ["train", "recipe.yaml", ...],
//                  "recipe": "recipe.yaml", "overrides": [...], "from": "", "torch_version": "2.13.0"}
//   recipe.yaml   as given
//   bin/ lib/     stripped programs and libraries; torch is the node's own
//   lockstep_ray/ the adapter that Ray runs
//
// All but the first two, and a program of the user's, come from a folder that deploy/package makes.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/zip_archive.h"

namespace lockstep::cluster {

struct JobPackageOptions {
  std::string folder;  // made by deploy/package
  std::string recipe;  // its text
  std::vector<std::string> overrides;
  std::string from;     // --from of `lockstep train`; empty: none
  std::string program;  // a train function's program instead of `lockstep train`; empty: none
};

struct JobPackage {
  std::string name;  // "_ray_pkg_<hash>.zip": of the content, so that the same package is uploaded once
  std::vector<ArchiveFile> files;
};

inline constexpr size_t kLargestPackage = 100u << 20;  // bytes that the dashboard takes (its client_max_size)

// Reads every file once, to hash it. Throws ConfigError for a folder that is no package, or a program that is
// none, and IoError.
JobPackage make_job_package(const JobPackageOptions& options);

// The bytes to upload. Throws ConfigError above kLargestPackage, naming the largest files.
std::string package_bytes(const JobPackage& package);

// The folder to use: `asked`, when that is empty "package" beside the folder of our libraries (a build's
// own), else the folder that holds that one, when this program runs from a package. Throws ConfigError when
// there is none.
std::string find_package_folder(const std::string& asked);

}  // namespace lockstep::cluster
