#include "lockstep/cluster/ray_resource.h"

#include <fmt/format.h>

namespace lockstep::cluster {
namespace {

// What Ray calls the accelerators that it finds by itself and that are no GPUs.
constexpr const char* kOtherAccelerators[] = {"TPU", "HPU", "NPU", "neuron_cores"};

}  // namespace

std::string counted(double amount, const std::string& resource) {
  const bool takes_s = (resource == "GPU" || resource == "CPU") && amount != 1 && amount != 0;
  return fmt::format("{} {}{}", amount == 0 ? "no" : fmt::format("{:g}", amount), resource,
                     takes_s ? "s" : "");
}

std::string counted_on(const RayNode& node, const std::string& resource) {
  std::string text = counted(node.amount(resource), resource);
  if (resource != "GPU" || node.amount("GPU") > 0) return text;
  for (const char* other : kOtherAccelerators) {
    if (node.amount(other) > 0) text += fmt::format(" but {}", counted(node.amount(other), other));
  }
  return text;
}

}  // namespace lockstep::cluster
