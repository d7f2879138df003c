// One generated file.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::cluster::manifest {

struct ManifestFile {
  std::string name;             // "raycluster.yaml"
  std::string about;            // first line of the file, as a comment
  std::vector<Json> documents;  // one at least

  // Several documents are parted by "---". The same settings always give the same text.
  std::string to_text() const;
};

}  // namespace lockstep::cluster::manifest
