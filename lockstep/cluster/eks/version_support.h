// How long EKS supports a version of Kubernetes. Past its standard support the control plane costs six times
// as much.
#pragma once

#include <map>
#include <string>

#include "lockstep/cluster/eks/aws.h"

namespace lockstep::cluster::eks {

struct VersionSupport {
  std::string end;           // of standard support: "2027-07-01"; empty: AWS does not tell
  bool is_extended = false;  // that end is past
};

// Every version that EKS has. `today`: "2026-01-02". Throws as Aws::call does.
std::map<std::string, VersionSupport> version_support(Aws& aws, const std::string& today);

}  // namespace lockstep::cluster::eks
