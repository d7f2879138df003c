#include "lockstep/cluster/eks/stacks.h"

#include <algorithm>
#include <vector>

namespace lockstep::cluster::eks {
namespace {

void delete_stack(Aws& aws, const std::string& name) {
  aws.call({"cloudformation", "update-termination-protection", "--no-enable-termination-protection",
            "--stack-name", name});
  aws.call({"cloudformation", "delete-stack", "--stack-name", name});
  aws.call(Command{.argv = {"aws", "cloudformation", "wait", "stack-delete-complete", "--stack-name", name,
                            "--region", aws.region()},
                   .timeout = std::chrono::minutes(30)});
}

}  // namespace

void delete_stacks(Aws& aws, const World& world, const std::function<bool(const std::string&)>& wanted) {
  std::vector<std::string> names;
  for (const auto& [name, status] : world.stacks) {
    if (wanted(name)) names.push_back(name);
  }
  // The cluster's network is the others' ground.
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return !name.ends_with("-cluster"); });
  for (const std::string& name : names) delete_stack(aws, name);
}

}  // namespace lockstep::cluster::eks
