#include "tests/paths.h"

namespace lockstep {

namespace {

std::string in_folder(const std::string& folder, const std::string& name) {
  return name.empty() ? folder : folder + "/" + name;
}

}  // namespace

std::string source_path(const std::string& name) { return in_folder(LOCKSTEP_SOURCE_DIR, name); }
std::string build_path(const std::string& name) { return in_folder(LOCKSTEP_BINARY_DIR, name); }
std::string test_data(const std::string& name) { return source_path("tests/data/" + name); }

}  // namespace lockstep
