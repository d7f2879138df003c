#include "lockstep/base/library_folder.h"

#include <dlfcn.h>

#include <filesystem>

namespace lockstep {

std::string library_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&library_folder), &info) == 0 || !info.dli_fname) return ".";
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

}  // namespace lockstep
