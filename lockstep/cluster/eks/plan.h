// What `cluster up` would do and cost, before it does anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/check.h"
#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/eks/preflight.h"
#include "lockstep/cluster/eks/price.h"
#include "lockstep/cluster/eks/step.h"
#include "lockstep/cluster/manifest/manifest_file.h"

namespace lockstep::cluster::eks {

struct PlannedStep {
  Step step;
  std::string exists;  // what is there already, so that the step is left out; empty: nothing
};

struct Plan {
  Deployment deployment;
  std::optional<std::vector<Check>> checks;  // absent: the preflight was left out
  std::vector<PlannedStep> steps;
  Price price;
  std::vector<std::string> notes;
  std::vector<manifest::ManifestFile> files;

  std::string to_text() const;
  // Fields: docs/commands/cluster.md.
  Json to_json() const;
  // Throws IoError. A folder that is not there is made; files of the same names are replaced.
  void write_files(const std::string& folder) const;
};

// Without a look at the world: every step is to be done.
Plan plan_without_preflight(const ClusterSettings& settings);

Plan plan_after(const Preflight& preflight);

}  // namespace lockstep::cluster::eks
