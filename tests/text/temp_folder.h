// A folder with files of the test's making, removed at the end.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace lockstep::text {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = ::testing::TempDir() + "lockstep-text-XXXXXX";
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder at " + pattern);
    path_ = pattern;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path() const { return path_.string(); }

  TempFolder& write(const std::string& name, const std::string& content) {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
    return *this;
  }
  TempFolder& copy(const std::string& from) {
    std::filesystem::copy(from, path_, std::filesystem::copy_options::recursive);
    return *this;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace lockstep::text
