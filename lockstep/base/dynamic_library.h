// A library that is looked for when the program runs, since not every machine has it.
#pragma once

#include <dlfcn.h>

#include <string>

namespace lockstep {

// Stays loaded: what such libraries start does not end with a dlclose.
class DynamicLibrary {
 public:
  // `file`: a name that the loader looks up, or a path.
  explicit DynamicLibrary(const std::string& file) : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) problem_ = dlerror();
  }

  bool loaded() const { return handle_ != nullptr; }
  const std::string& problem() const { return problem_; }  // the loader's words; empty: loaded

  // Null where it has no such function.
  template <typename Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
  std::string problem_;
};

}  // namespace lockstep
