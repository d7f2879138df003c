#include "lockstep/cluster/manifest/manifest_file.h"

#include "lockstep/base/yaml_text.h"

namespace lockstep::cluster::manifest {

std::string ManifestFile::to_text() const {
  std::string text = "# " + about + "\n";
  for (const Json& document : documents) {
    if (&document != &documents.front()) text += "---\n";
    text += yaml_text(document);
  }
  return text;
}

}  // namespace lockstep::cluster::manifest
