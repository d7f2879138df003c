// A zip file from files here and texts, by libzip.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cluster {

struct ArchiveFile {
  std::string name;  // in the archive, with slashes
  std::string path;  // the file here that it is made from; empty: `text` is its content
  std::string text;
  bool is_executable = false;
};

// The archive's bytes. Modes are kept as Unix ones (0755 or 0644), times are not: the same files give the
// same archive. Compresses some 50 MB/s. Throws IoError.
std::string zip_archive(const std::vector<ArchiveFile>& files);

}  // namespace lockstep::cluster
