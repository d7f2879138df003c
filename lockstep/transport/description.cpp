#include "lockstep/transport/description.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace lockstep::transport {
namespace {

template <typename T>
void fill(std::vector<T>& list, const std::set<T>& values) {
  list.assign(values.begin(), values.end());
}

void describe_processes(JobVerdict& verdict, const LogEvidence& evidence, const HostMap& hosts) {
  std::set<std::string> providers, fabrics, platforms, versions[3];
  std::set<uint32_t> device_counts;
  const auto add = [&](std::set<std::string>& names, NameTable::Id id) {
    if (id != NameTable::kNone) names.insert(evidence.names().name(id));
  };
  for (const NameTable::Id version : evidence.bare_versions()) add(versions[0], version);
  for (size_t i = 0; i < evidence.processes().size(); ++i) {
    if (hosts.host_of[i] == HostMap::kFragment) continue;
    const ProcessLog& process = evidence.processes()[i];
    add(providers, process.last_provider);
    add(fabrics, process.fabric);
    add(platforms, process.platform);
    for (size_t library = 0; library < std::size(versions); ++library)
      add(versions[library], process.versions[library]);
    if (process.num_nics > 0) device_counts.insert(process.num_nics);
  }
  fill(verdict.providers, providers);
  fill(verdict.fabrics, fabrics);
  fill(verdict.platforms, platforms);
  fill(verdict.device_counts, device_counts);
  fill(verdict.nccl_versions, versions[0]);
  fill(verdict.plugin_versions, versions[1]);
  fill(verdict.libfabric_versions, versions[2]);
}

}  // namespace

void describe(JobVerdict& verdict, const LogEvidence& evidence, const HostMap& hosts) {
  verdict.sources = evidence.sources();
  verdict.num_lines = evidence.num_lines();
  verdict.num_records = evidence.num_records();
  verdict.hosts = hosts.names;
  std::sort(verdict.hosts.begin(), verdict.hosts.end());
  verdict.warnings = evidence.clues().warnings();
  verdict.environment = evidence.environment();
  describe_processes(verdict, evidence, hosts);
}

}  // namespace lockstep::transport
