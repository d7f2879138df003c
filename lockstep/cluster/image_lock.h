// The versions that an image was locked with, to compare with what a node has.
//
//   {"version": 1, "image": "repository@sha256:...", "libraries": {"nccl": "2.28.9", "libfabric": "2.1"}}
//
// Fields: docs/commands/doctor.md.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lockstep::cluster {

// Names that a lock may hold.
const std::vector<std::string>& lockable_libraries();

struct ImageLock {
  std::string image;                             // may be empty
  std::map<std::string, std::string> libraries;  // name -> version, or its first numbers

  // Throws ConfigError with the path for a file that is not there, is no such JSON, or names a library that
  // is not known.
  static ImageLock load(const std::string& path);
};

// Whether `found` is `locked` or begins with its numbers: "2.28" takes 2.28.9, not 2.2 or 2.281.
bool version_matches(const std::string& locked, const std::string& found);

}  // namespace lockstep::cluster
