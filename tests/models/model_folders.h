// Model folders and text that the tests of this folder share.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "lockstep/models/causal_lm.h"
#include "lockstep/models/json_file.h"
#include "lockstep/nn/materialize.h"

namespace lockstep::models {

inline std::string test_folder(const std::string& name) { return LOCKSTEP_TEST_DATA "/models/" + name; }

// A fresh folder, removed with its content at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "lockstep-models-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The model of a folder, whole and on the CPU.
inline CausalLM load_whole(const std::string& folder, at::ScalarType dtype = at::kFloat) {
  CausalLM model = CausalLM::from_pretrained({.source = folder});
  nn::materialize(*model, *model, at::TensorOptions().dtype(dtype));
  return model;
}

}  // namespace lockstep::models
