// A folder for as long as its owner lives, removed with all that is in it.
#pragma once

#include <string>

namespace lockstep::bench {

class TemporaryFolder {
 public:
  TemporaryFolder();  // throws IoError
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace lockstep::bench
