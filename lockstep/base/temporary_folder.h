// A folder for as long as its owner lives, removed with all that is in it.
#pragma once

#include <string>

namespace lockstep {

class TemporaryFolder {
 public:
  TemporaryFolder();  // throws IoError
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace lockstep
