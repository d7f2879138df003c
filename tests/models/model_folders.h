// Model folders and text that the tests of this folder share.
#pragma once

#include <string>

#include "lockstep/models/causal_lm.h"
#include "lockstep/models/json_file.h"
#include "lockstep/nn/materialize.h"
#include "tests/base/temporary_folder.h"
#include "tests/paths.h"

namespace lockstep::models {

inline std::string test_folder(const std::string& name) { return test_data("models/" + name); }

// The model of a folder, whole and on the CPU.
inline CausalLM load_whole(const std::string& folder, at::ScalarType dtype = at::kFloat) {
  CausalLM model = CausalLM::from_pretrained({.source = folder});
  nn::materialize(*model, *model, at::TensorOptions().dtype(dtype));
  return model;
}

}  // namespace lockstep::models
