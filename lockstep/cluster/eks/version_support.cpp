#include "lockstep/cluster/eks/version_support.h"

#include "lockstep/cluster/eks/answer.h"

namespace lockstep::cluster::eks {

std::map<std::string, VersionSupport> version_support(Aws& aws, const std::string& today) {
  std::map<std::string, VersionSupport> versions;
  const Json answer = aws.call({"eks", "describe-cluster-versions"});
  for (const Json& entry : part_of(answer, "clusterVersions")) {
    const std::string end = date_of(entry, "endOfStandardSupportDate");
    const bool is_past = !end.empty() && end < today;
    versions[text_of(entry, "clusterVersion")] = {
        .end = end, .is_extended = is_past || text_of(entry, "versionStatus") == "EXTENDED_SUPPORT"};
  }
  return versions;
}

}  // namespace lockstep::cluster::eks
