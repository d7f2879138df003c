// What can be known to stand in the way before anything is made: identity, quotas, zones, versions,
// reservations, tools. Asks, and changes nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/cluster/check.h"
#include "lockstep/cluster/eks/aws.h"
#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/eks/world.h"
#include "lockstep/cluster/image/resolve_image.h"

namespace lockstep::cluster::eks {

struct Preflight {
  std::vector<Check> checks;
  Deployment deployment;                // with zones as AWS has them, and the image by its digest
  std::vector<std::string> candidates;  // zones in which to look for capacity, in order
  World world;
  bool extended_support = false;
};

// What an image is now, for "linux/amd64"; throws as resolve_image() does.
using ResolveImage = std::function<ResolvedImage(const ImageReference& image, const std::string& platform)>;

// Everything that is wrong is a check at fault, so that one run tells it all; what AWS does not let be asked
// (no right to see quotas) is a note. Throws only where nothing can be asked at all: no tools, no
// credentials. `today`: "2026-01-02", against which ends of support are held. Without `resolve` no registry
// is asked, and a tag stays one.
Preflight look_before(Aws& aws, const ClusterSettings& settings, const std::string& today,
                      const ResolveImage& resolve = {});

}  // namespace lockstep::cluster::eks
