// A folder of a test's own (TemporaryFolder), and what is in its files.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "lockstep/base/temporary_folder.h"

namespace lockstep {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace lockstep
