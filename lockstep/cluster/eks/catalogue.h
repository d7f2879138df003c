// What is known of instance types without asking: shapes from EC2's DescribeInstanceTypes, on-demand Linux
// list prices of us-east-1, us-east-2 and us-west-2 (July 2026), in dollars an hour.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cluster::eks {

struct InstanceType {
  std::string_view name;
  int64_t gpus = 0;
  std::string_view gpu_name = {};
  int64_t gpu_gib = 0;  // of one
  int64_t vcpus = 0, memory_gib = 0;
  int64_t efa_interfaces = 0;
  int64_t gbps = 0;             // of all interfaces together
  bool gpu_direct = false;      // RDMA from GPU to GPU
  int64_t max_pods = 0;         // addresses that its network interfaces can have
  double dollars_per_hour = 0;  // 0: not known here

  // The service quota, counted in vCPUs, that running it on demand takes from.
  std::string_view quota_code() const;
  std::string_view quota_name() const;
};

const std::vector<InstanceType>& instance_types();
const InstanceType* find_instance_type(std::string_view name);

// What Kubernetes has to give on a node of this type, an estimate on the safe side: EKS keeps a part of CPU
// and memory for itself, the hypervisor takes 7.5 % of memory, and a host with EFA sets 10 GiB aside as huge
// pages.
struct NodeRoom {
  int64_t milli_cpus = 0;
  int64_t memory_mib = 0;
};
NodeRoom allocatable(const InstanceType& type);
// The same without what the cluster's own pods ask for on the system node: DNS, metrics, the operator.
NodeRoom room_for_head(const InstanceType& type);
NodeRoom room_for_worker(const InstanceType& type);

}  // namespace lockstep::cluster::eks
