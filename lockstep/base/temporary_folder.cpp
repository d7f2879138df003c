#include "lockstep/base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "lockstep/base/io_error.h"

namespace lockstep {

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "lockstep-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) throw_io_error("make a folder like", path_, errno);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace lockstep
