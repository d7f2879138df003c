// EC2's quotas, counted in vCPUs of a family of instance types.
#pragma once

#include <cstdint>
#include <string>

#include "lockstep/cluster/eks/aws.h"
#include "lockstep/cluster/eks/catalogue.h"

namespace lockstep::cluster::eks {

// What the account may run on demand of the type's family, in this region. Throws as Aws::call does.
int64_t vcpu_quota(Aws& aws, const InstanceType& type);
// The command that asks for `vcpus`.
std::string quota_increase(const InstanceType& type, int64_t vcpus, const std::string& region);

}  // namespace lockstep::cluster::eks
