// The test data of this folder: small tokenizers and the public bug cases (cases "T..").
#pragma once

#include <fstream>
#include <string>

#include "lockstep/base/json.h"
#include "tests/paths.h"

namespace lockstep::text {

inline std::string data_path(const std::string& name) { return test_data("text/" + name); }

inline Json read_json(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

}  // namespace lockstep::text
