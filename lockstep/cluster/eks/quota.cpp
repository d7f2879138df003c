#include "lockstep/cluster/eks/quota.h"

#include <fmt/format.h>

#include "lockstep/cluster/eks/answer.h"

namespace lockstep::cluster::eks {

int64_t vcpu_quota(Aws& aws, const InstanceType& type) {
  const Json answer = aws.call({"service-quotas", "get-service-quota", "--service-code", "ec2",
                                "--quota-code", std::string(type.quota_code())});
  return number_of(part_of(answer, "Quota"), "Value");
}

std::string quota_increase(const InstanceType& type, int64_t vcpus, const std::string& region) {
  return fmt::format(
      "aws service-quotas request-service-quota-increase --service-code ec2 --quota-code {} "
      "--desired-value {} --region {}",
      type.quota_code(), vcpus, region);
}

}  // namespace lockstep::cluster::eks
