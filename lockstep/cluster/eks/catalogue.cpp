#include "lockstep/cluster/eks/catalogue.h"

#include <algorithm>

namespace lockstep::cluster::eks {
namespace {

constexpr int64_t kMibPerGib = 1024;

}  // namespace

const std::vector<InstanceType>& instance_types() {
  // name, GPUs, GPU, GiB each, vCPUs, GiB, EFA interfaces, Gbit/s, GPUDirect, pods, $/h
  static const std::vector<InstanceType> types = {
      {"g5.8xlarge", 1, "A10G", 22, 32, 128, 1, 25, false, 234},
      {"g5.12xlarge", 4, "A10G", 22, 48, 192, 1, 40, false, 737, 5.672},
      {"g5.48xlarge", 8, "A10G", 22, 192, 768, 1, 100, false, 345, 16.288},
      {"g6.8xlarge", 1, "L4", 22, 32, 128, 1, 25, false, 234, 2.0144},
      {"g6.12xlarge", 4, "L4", 22, 48, 192, 1, 40, false, 234, 4.6016},
      {"g6.24xlarge", 4, "L4", 22, 96, 384, 1, 50, false, 737},
      {"g6.48xlarge", 8, "L4", 22, 192, 768, 1, 100, false, 737, 13.3504},
      {"g6e.8xlarge", 1, "L40S", 45, 32, 256, 1, 25, false, 234},
      {"g6e.12xlarge", 4, "L40S", 45, 48, 384, 1, 100, false, 737, 10.4926},
      {"g6e.24xlarge", 4, "L40S", 45, 96, 768, 2, 200, false, 737},
      {"g6e.48xlarge", 8, "L40S", 45, 192, 1536, 4, 400, false, 737, 30.1312},
      {"g7e.8xlarge", 1, "RTX PRO 6000", 96, 32, 256, 1, 100, false, 234, 5.27},
      {"g7e.12xlarge", 2, "RTX PRO 6000", 96, 48, 512, 1, 400, true, 234, 8.29},
      {"g7e.24xlarge", 4, "RTX PRO 6000", 96, 96, 1024, 2, 800, true, 737, 16.57},
      {"g7e.48xlarge", 8, "RTX PRO 6000", 96, 192, 2048, 4, 1600, true, 737, 33.14},
      {"p4d.24xlarge", 8, "A100", 40, 96, 1152, 4, 400, true, 737, 21.9576},
      {"p4de.24xlarge", 8, "A100", 80, 96, 1152, 4, 400, true, 737, 27.4471},
      {"p5.4xlarge", 1, "H100", 80, 16, 256, 1, 100, true, 234, 6.88},
      {"p5.48xlarge", 8, "H100", 80, 192, 2048, 32, 3200, true, 737, 55.04},
      {"p5e.48xlarge", 8, "H200", 141, 192, 2048, 32, 3200, true, 737},
      {"p5en.48xlarge", 8, "H200", 141, 192, 2048, 16, 3200, true, 737, 63.296},
      {"p6-b200.48xlarge", 8, "B200", 179, 192, 2048, 8, 3200, true, 737, 113.9328},
      {"p6-b300.48xlarge", 8, "B300", 268, 192, 4096, 16, 6400, true, 737},

      {"m5.xlarge", 0, "", 0, 4, 16, 0, 10, false, 58, 0.192},
      {"m5.2xlarge", 0, "", 0, 8, 32, 0, 10, false, 58, 0.384},
      {"m6i.xlarge", 0, "", 0, 4, 16, 0, 12, false, 58, 0.192},
      {"m6i.2xlarge", 0, "", 0, 8, 32, 0, 12, false, 58, 0.384},
      {"m7i.large", 0, "", 0, 2, 8, 0, 12, false, 29, 0.1008},
      {"m7i.xlarge", 0, "", 0, 4, 16, 0, 12, false, 58, 0.2016},
      {"m7i.2xlarge", 0, "", 0, 8, 32, 0, 12, false, 58, 0.4032},
      {"m7i.4xlarge", 0, "", 0, 16, 64, 0, 12, false, 234, 0.8064},
  };
  return types;
}

const InstanceType* find_instance_type(std::string_view name) {
  const auto& types = instance_types();
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const auto& type) { return type.name == name; });
  return found == types.end() ? nullptr : &*found;
}

std::string_view InstanceType::quota_code() const {
  if (name.starts_with('p')) return "L-417A185B";
  return name.starts_with('g') ? "L-DB2E81BA" : "L-1216C47A";
}

std::string_view InstanceType::quota_name() const {
  if (name.starts_with('p')) return "Running On-Demand P instances";
  return name.starts_with('g') ? "Running On-Demand G and VT instances"
                               : "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances";
}

NodeRoom allocatable(const InstanceType& type) {
  // nodeadm: 6 % of the first core, 1 % of the second, half a percent of the next two, a quarter of the
  // others; 255 MiB and 11 a pod, and 100 MiB before pods are evicted.
  const int64_t kept_cpus =
      60 + 10 + std::min<int64_t>(2, type.vcpus - 2) * 5 + std::max<int64_t>(0, type.vcpus - 4) * 5 / 2;
  const int64_t kept_mib = 255 + 11 * type.max_pods + 100;
  const int64_t huge_pages_mib = type.efa_interfaces > 0 ? 5128 * 2 : 0;
  return {type.vcpus * 1000 - kept_cpus,
          type.memory_gib * kMibPerGib * 925 / 1000 - kept_mib - huge_pages_mib};
}

NodeRoom room_for_head(const InstanceType& type) {
  // aws-node 50m, kube-proxy 100m, two CoreDNS 100m and 70Mi each, two metrics-server 100m and 200Mi each,
  // the KubeRay operator 100m and 512Mi.
  const NodeRoom room = allocatable(type);
  return {room.milli_cpus - 650, room.memory_mib - 1052};
}

NodeRoom room_for_worker(const InstanceType& type) {
  // aws-node 50m, kube-proxy 100m, the EFA plugin 10m and 20Mi.
  const NodeRoom room = allocatable(type);
  return {room.milli_cpus - 160, room.memory_mib - 20};
}

}  // namespace lockstep::cluster::eks
