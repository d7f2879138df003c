#include "lockstep/cluster/eks/settings_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "lockstep/base/error.h"
#include "lockstep/base/nearest.h"
#include "lockstep/cluster/eks/catalogue.h"

namespace lockstep::cluster::eks {
namespace {

constexpr int64_t kMibPerGib = 1024;
constexpr size_t kLongestStackName = 128;  // CloudFormation's

class Rules {
 public:
  Rules(ClusterSettings& settings, const RecipeSettings& values, const std::string& origin)
      : settings_(settings), values_(values), origin_(origin) {}

  void check() {
    check_region();
    check_vpc();
    check_types();
    check_efa();
    check_capacity();
    check_head();
    check_worker();
    check_names();
    check_rest();
  }

 private:
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const {
    const auto given = values_.find(key);
    if (given != values_.end()) given->second.complain(what);
    throw ConfigError(fmt::format("{}: {} {}", origin_, key, what));
  }

  void check_region() {
    std::vector<std::string> zones = settings_.zones;
    const auto& gpu_zones = settings_.gpu_nodes.zones;
    zones.insert(zones.end(), gpu_zones.begin(), gpu_zones.end());
    for (const auto& [zone, subnet] : settings_.vpc.private_subnets) zones.push_back(zone);
    if (settings_.region.empty())
      settings_.region = zones.empty() ? "us-east-2" : zones.front().substr(0, zones.front().size() - 1);
    for (const std::string& zone : zones) {
      if (zone.substr(0, zone.size() - 1) == settings_.region) continue;
      const bool is_gpu = std::find(gpu_zones.begin(), gpu_zones.end(), zone) != gpu_zones.end();
      refuse(is_gpu                     ? "gpu_nodes.zones"
             : settings_.vpc.id.empty() ? "zones"
                                        : "vpc.private_subnets",
             fmt::format("names {}, which is not in region {}", zone, settings_.region));
    }
  }

  void check_vpc() const {
    const auto& subnets = settings_.vpc.private_subnets;
    if (!settings_.vpc.id.empty() && subnets.size() < 2)
      refuse("vpc.id",
             fmt::format("needs vpc.private_subnets in two zones at least, got {}: EKS takes no less",
                         subnets.size()));
    std::vector<std::string> zones = settings_.zones;
    for (const auto& [zone, subnet] : subnets) zones.push_back(zone);
    if (zones.size() == 1)
      refuse("zones", fmt::format("must be two at least, got {}: EKS takes no less", zones[0]));
    for (const std::string& zone : settings_.gpu_nodes.zones) {
      if (!zones.empty() && std::find(zones.begin(), zones.end(), zone) == zones.end())
        refuse("gpu_nodes.zones",
               fmt::format("names {}, and the cluster is in {} only", zone, fmt::join(zones, ", ")));
    }
  }

  const InstanceType& type_of(const std::string& key, const std::string& name) const {
    if (const InstanceType* type = find_instance_type(name)) return *type;
    std::vector<std::string> names;
    for (const InstanceType& type : instance_types()) names.emplace_back(type.name);
    const auto guess = nearest(name, names);
    refuse(key, fmt::format("is an unknown instance type, \"{}\"{}", name,
                            guess ? fmt::format(": did you mean {}?", *guess)
                                  : " (docs/cluster.md lists those that are known)"));
  }

  void check_types() {
    gpu_ = &type_of("gpu_nodes.type", settings_.gpu_nodes.type);
    system_ = &type_of("system_nodes.type", settings_.system_nodes.type);
    if (gpu_->gpus == 0) refuse("gpu_nodes.type", fmt::format("must have GPUs; {} has none", gpu_->name));
    if (system_->gpus > 0)
      refuse("system_nodes.type",
             fmt::format("must be without GPUs; {} has {}", system_->name, system_->gpus));
  }

  void check_capacity() {
    GpuNodes& nodes = settings_.gpu_nodes;
    // A reservation is in one zone: with more there is none to search for.
    if (nodes.zones.size() > 1 && !values_.contains("gpu_nodes.capacity")) nodes.capacity = "on_demand";
    const bool is_reserved = nodes.capacity == "reservation" || nodes.capacity == "capacity_block";
    if (is_reserved && nodes.reservation.empty())
      refuse("gpu_nodes.capacity",
             fmt::format("is {}, which needs gpu_nodes.reservation: cr-…", nodes.capacity));
    if (nodes.capacity == "search" && nodes.zones.size() > 1)
      refuse("gpu_nodes.zones",
             fmt::format(
                 "are {}, and a reservation is in one: name one, leave it out to have every zone tried, or "
                 "set gpu_nodes.capacity: on_demand",
                 fmt::join(nodes.zones, ", ")));
  }

  void check_efa() const {
    const GpuNodes& nodes = settings_.gpu_nodes;
    if (!settings_.uses_efa()) return;
    if (nodes.zones.size() > 1)
      refuse(
          "gpu_nodes.zones",
          fmt::format(
              "are {}, and EFA does not cross zones or subnets: name one zone, or set network.require: any, "
              "which trains over TCP",
              fmt::join(nodes.zones, " and ")));
    if (gpu_->efa_interfaces == 0)
      refuse("gpu_nodes.type",
             fmt::format("is {}, which has no EFA: take another, or network.require: any", gpu_->name));
    const int64_t efa = nodes.efa.value_or(gpu_->efa_interfaces);
    if (efa > gpu_->efa_interfaces)
      refuse("gpu_nodes.efa", fmt::format("is {}, and {} has {} EFA interface{}", efa, gpu_->name,
                                          gpu_->efa_interfaces, gpu_->efa_interfaces == 1 ? "" : "s"));
  }

  void check_head() const {
    const NodeRoom room = room_for_head(*system_);
    const HeadPod& head = settings_.head;
    const auto way_out = [&] {
      return fmt::format(
          "take less, or a larger system_nodes.type ({} has about {:.1f} CPUs and {} GiB for the head)",
          system_->name, static_cast<double>(room.milli_cpus) / 1000, room.memory_mib / kMibPerGib);
    };
    if (head.cpus * 1000 > room.milli_cpus)
      refuse("head.cpus",
             fmt::format("is {}, which does not fit {}: {}", head.cpus, system_->name, way_out()));
    if (head.memory_gib * kMibPerGib > room.memory_mib)
      refuse("head.memory_gib",
             fmt::format("is {}, which does not fit {}: {}", head.memory_gib, system_->name, way_out()));
  }

  void check_worker() {
    const NodeRoom room = room_for_worker(*gpu_);
    WorkerPod& worker = settings_.worker;
    if (!worker.cpus) worker.cpus = std::min(gpu_->vcpus * 5 / 6, room.milli_cpus / 1000);
    if (!worker.memory_gib)
      worker.memory_gib = std::min(gpu_->memory_gib * 5 / 6, room.memory_mib / kMibPerGib);
    if (*worker.cpus * 1000 > room.milli_cpus)
      refuse("worker.cpus",
             fmt::format("is {}, and {} has {} for pods", *worker.cpus, gpu_->name, room.milli_cpus / 1000));
    if (*worker.memory_gib * kMibPerGib > room.memory_mib)
      refuse("worker.memory_gib", fmt::format("is {}, and {} has about {} for pods", *worker.memory_gib,
                                              gpu_->name, room.memory_mib / kMibPerGib));
  }

  void check_names() const {
    if (settings_.system_nodes.name == settings_.gpu_nodes.name)
      refuse("gpu_nodes.name", fmt::format("is that of system_nodes, {}", settings_.gpu_nodes.name));
    const auto& groups = {settings_.system_nodes.name, settings_.gpu_nodes.name};
    for (const std::string& group : groups) {
      const std::string stack = fmt::format("eksctl-{}-nodegroup-{}", settings_.name, group);
      if (stack.size() > kLongestStackName)
        refuse(
            "name",
            fmt::format("makes a CloudFormation stack {} of {} characters, and {} are allowed: take a name "
                        "shorter by {}",
                        stack, stack.size(), kLongestStackName, stack.size() - kLongestStackName));
    }
  }

  void check_rest() const {
    const std::string& version = settings_.image.ray_version;  // its form was checked
    int major = 0, minor = 0;
    const auto [dot, error] = std::from_chars(version.data(), version.data() + version.size(), major);
    if (error == std::errc()) std::from_chars(dot + 1, version.data() + version.size(), minor);
    if (major < 2 || (major == 2 && minor < 52))
      refuse("image.ray_version", fmt::format("is {}, and token authentication came with 2.52", version));
    if (!settings_.storage.fsx_id.empty() && settings_.storage.fsx_mount_name.empty())
      refuse("storage.fsx_id",
             "needs storage.fsx_mount_name, which `aws fsx describe-file-systems` gives as "
             "LustreConfiguration.MountName");
  }

  ClusterSettings& settings_;
  const RecipeSettings& values_;
  std::string origin_;
  const InstanceType* gpu_ = nullptr;
  const InstanceType* system_ = nullptr;
};

}  // namespace

void check_together(ClusterSettings& settings, const RecipeSettings& values, const std::string& origin) {
  Rules(settings, values, origin).check();
}

std::vector<std::string> notes_on(const ClusterSettings& settings) {
  std::vector<std::string> notes;
  const GpuNodes& nodes = settings.gpu_nodes;
  if (nodes.zones.size() > 1)
    notes.push_back(fmt::format("GPU nodes may be in {}: traffic between zones is TCP, and is billed",
                                fmt::join(nodes.zones, " and ")));
  else if (!settings.uses_efa() && nodes.count > 1)
    notes.push_back("network.require is any: no EFA is set up, and gradients go over TCP");
  if (!settings.image.is_pinned())
    notes.push_back(
        fmt::format("{} is a tag, which can move: what `cluster up` makes names the digest that it has then",
                    settings.image.reference));
  if (settings.storage.s3.empty() && settings.storage.fsx_id.empty())
    notes.push_back("no storage: runs are lost with their pods. Set storage.s3 or storage.fsx_id");
  if (settings.vpc.id.empty() && settings.vpc.nat == "none" && !settings.existing)
    notes.push_back(
        "vpc.nat is none: nodes reach no registry and no Hugging Face; VPC endpoints are yours to add");
  if (nodes.capacity == "search")
    notes.push_back(fmt::format(
        "the reservation ends by itself {} hours after it was made; nodes that run stay, one that "
        "is lost after that is not replaced",
        std::chrono::duration_cast<std::chrono::hours>(nodes.reserve_for).count()));
  return notes;
}

}  // namespace lockstep::cluster::eks
