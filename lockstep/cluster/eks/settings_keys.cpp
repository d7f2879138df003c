#include "lockstep/cluster/eks/settings_keys.h"

#include <algorithm>
#include <regex>

namespace lockstep::cluster::eks {
namespace {

// Text of a certain form; `words` completes "must be text".
RecipeRange matching(const std::string& words, const std::string& form) {
  const std::regex pattern(form);
  const auto holds = [=](const Json& value) {
    return value.is_null() || std::regex_match(value.get_ref<const std::string&>(), pattern);
  };
  return {words, holds, {}};
}

RecipeRange each_matching(const std::string& words, const std::string& form) {
  const RecipeRange one = matching(words, form);
  return {words, [=](const Json& list) { return std::all_of(list.begin(), list.end(), one.holds); }, {}};
}

constexpr const char* kZone = "[a-z]{2}(-[a-z]+)+-[0-9][a-z]";

// Kubernetes' names of objects (RFC 1123 labels).
RecipeRange object_name(int longest) {
  return matching(" of lower-case letters, digits and '-', beginning with a letter, at most " +
                      std::to_string(longest) + " long",
                  "[a-z]([-a-z0-9]{0," + std::to_string(longest - 2) + "}[a-z0-9])?");
}

RecipeRange version_range() {
  return matching(" such as \"1.6.2\"; put it in quotes", "v?[0-9]+(\\.[0-9]+)+");
}

std::string needs_new_cluster(const ClusterSettings& settings) {
  return settings.existing ? "with existing: true, where the cluster is as it is" : "";
}
std::string needs_new_vpc(const ClusterSettings& settings) {
  if (!settings.vpc.id.empty()) return "with vpc.id, where the VPC is as it is";
  return needs_new_cluster(settings);
}
std::string needs_reservation(const ClusterSettings& settings) {
  const std::string& capacity = settings.gpu_nodes.capacity;
  if (capacity == "reservation" || capacity == "capacity_block") return "";
  return "with gpu_nodes.capacity: " + capacity + "; use reservation or capacity_block";
}
std::string needs_search(const ClusterSettings& settings) {
  const std::string& capacity = settings.gpu_nodes.capacity;
  return capacity == "search" ? "" : "with gpu_nodes.capacity: " + capacity + ", which reserves nothing";
}
std::string needs_efa(const ClusterSettings& settings) {
  return settings.uses_efa() ? "" : "with network.require: any";
}
std::string needs_vpc(const ClusterSettings& settings) {
  return settings.vpc.id.empty() ? "without vpc.id" : needs_new_cluster(settings);
}
std::string needs_fsx(const ClusterSettings& settings) {
  return settings.storage.fsx_id.empty() ? "without storage.fsx_id" : "";
}

void read_subnets(ClusterSettings& settings, const RecipeValue& value) {
  if (!value.node.IsMap()) value.refuse("a mapping of zones to subnets, such as {us-east-2a: subnet-0123}");
  settings.vpc.private_subnets.clear();
  for (const auto& entry : value.node) {
    const bool is_text = entry.first.IsScalar() && entry.second.IsScalar();
    if (!is_text || !entry.second.Scalar().starts_with("subnet-"))
      value.refuse("a mapping of zones to subnets, such as {us-east-2a: subnet-0123}");
    settings.vpc.private_subnets[entry.first.Scalar()] = entry.second.Scalar();
  }
}

RecipeField<ClusterSettings> subnets_field() {
  return {"a mapping of zones to subnets", read_subnets, [](const ClusterSettings& settings) {
            return settings.vpc.private_subnets.empty() ? Json() : Json(settings.vpc.private_subnets);
          }};
}

RecipeField<ClusterSettings> reservation_field() {
  RecipeField<ClusterSettings> text = field(&ClusterSettings::gpu_nodes, &GpuNodes::reservation);
  const auto read = [=](ClusterSettings& settings, const RecipeValue& value) {
    text.read(settings, value);
    settings.gpu_nodes.capacity = "reservation";
  };
  return {text.kind, read, text.write};
}

}  // namespace

const std::vector<RecipeKey<ClusterSettings>>& cluster_keys() {
  using S = ClusterSettings;
  static const std::vector<RecipeKey<S>> keys = {
      // Node groups' stacks are "eksctl-<cluster>-nodegroup-<group>", and EKS allows 100 for the cluster's
      // name.
      {.path = "name",
       .field = field(&S::name),
       .range = matching(" of letters, digits and '-', beginning with a letter, at most 100 long",
                         "[A-Za-z][-A-Za-z0-9]{0,99}")},
      {.path = "region",
       .field = field(&S::region),
       .range = matching(" that is an AWS region, such as us-east-2", "[a-z]{2}(-[a-z]+)+-[0-9]")},
      {.path = "kubernetes_version",
       .field = field(&S::kubernetes_version),
       .range = matching(" such as \"1.36\"; put it in quotes", "1\\.[0-9]{2}"),
       .idle = needs_new_cluster},
      {.path = "existing", .field = field(&S::existing)},
      {.path = "zones",
       .field = field(&S::zones),
       .range = each_matching(" of zones such as us-east-2a", kZone),
       .idle = needs_new_vpc},

      {.path = "vpc.id",
       .field = field(&S::vpc, &VpcSettings::id),
       .range = matching(" such as vpc-0123456789abcdef0", "vpc-[0-9a-f]+"),
       .idle = needs_new_cluster},
      {.path = "vpc.private_subnets", .field = subnets_field(), .idle = needs_vpc},
      {.path = "vpc.nat",
       .field = field(&S::vpc, &VpcSettings::nat),
       .range = one_of({"single", "highly_available", "none"}),
       .idle = needs_new_vpc},

      {.path = "system_nodes.name",
       .field = field(&S::system_nodes, &SystemNodes::name),
       .range = object_name(63),
       .idle = needs_new_cluster},
      {.path = "system_nodes.type", .field = field(&S::system_nodes, &SystemNodes::type)},
      {.path = "system_nodes.count",
       .field = field(&S::system_nodes, &SystemNodes::count),
       .range = at_least(1),
       .idle = needs_new_cluster},
      {.path = "system_nodes.volume_gib",
       .field = field(&S::system_nodes, &SystemNodes::volume_gib),
       .range = at_least(40),
       .idle = needs_new_cluster},

      {.path = "gpu_nodes.name", .field = field(&S::gpu_nodes, &GpuNodes::name), .range = object_name(63)},
      {.path = "gpu_nodes.type", .field = field(&S::gpu_nodes, &GpuNodes::type)},
      {.path = "gpu_nodes.count", .field = field(&S::gpu_nodes, &GpuNodes::count), .range = at_least(1)},
      {.path = "gpu_nodes.zones",
       .field = field(&S::gpu_nodes, &GpuNodes::zones),
       .range = each_matching(" of zones such as us-east-2a", kZone)},
      // Before capacity, which it implies.
      {.path = "gpu_nodes.reservation",
       .field = reservation_field(),
       .range = matching(" such as cr-0123456789abcdef0", "cr-[0-9a-f]+"),
       .idle = needs_reservation},
      {.path = "gpu_nodes.capacity",
       .field = field(&S::gpu_nodes, &GpuNodes::capacity),
       .range = one_of({"search", "on_demand", "spot", "reservation", "capacity_block"})},
      {.path = "gpu_nodes.reserve_for",
       .field = field(&S::gpu_nodes, &GpuNodes::reserve_for),
       .range = at_least(3600),
       .idle = needs_search},
      {.path = "gpu_nodes.efa",
       .field = field(&S::gpu_nodes, &GpuNodes::efa),
       .range = at_least(1),
       .idle = needs_efa},
      {.path = "gpu_nodes.volume_gib",
       .field = field(&S::gpu_nodes, &GpuNodes::volume_gib),
       .range = at_least(100)},

      {.path = "head.cpus", .field = field(&S::head, &HeadPod::cpus), .range = at_least(1)},
      {.path = "head.memory_gib", .field = field(&S::head, &HeadPod::memory_gib), .range = at_least(2)},
      {.path = "worker.cpus", .field = field(&S::worker, &WorkerPod::cpus), .range = at_least(1)},
      {.path = "worker.memory_gib", .field = field(&S::worker, &WorkerPod::memory_gib), .range = at_least(1)},

      {.path = "image.reference", .field = field(&S::image, &ImageSettings::reference)},
      {.path = "image.ray_version",
       .field = field(&S::image, &ImageSettings::ray_version),
       .range = version_range()},
      {.path = "charts.kuberay",
       .field = field(&S::charts, &ChartVersions::kuberay),
       .range = version_range()},
      {.path = "charts.nvidia_plugin",
       .field = field(&S::charts, &ChartVersions::nvidia_plugin),
       .range = version_range()},
      {.path = "charts.efa_plugin",
       .field = field(&S::charts, &ChartVersions::efa_plugin),
       .range = version_range(),
       .idle = needs_efa},

      {.path = "namespace", .field = field(&S::namespace_name), .range = object_name(63)},
      {.path = "ray_cluster", .field = field(&S::ray_cluster), .range = object_name(53)},
      {.path = "network.require", .field = field(&S::network_require), .range = one_of({"efa", "any"})},

      {.path = "storage.s3",
       .field = field(&S::storage, &StorageSettings::s3),
       .range = matching(" such as s3://bucket/runs, with a prefix", "s3://[a-z0-9][-.a-z0-9]{2,62}/[^*?]+")},
      {.path = "storage.fsx_id",
       .field = field(&S::storage, &StorageSettings::fsx_id),
       .range = matching(" such as fs-0123456789abcdef0", "fs-[0-9a-f]+")},
      {.path = "storage.fsx_mount_name",
       .field = field(&S::storage, &StorageSettings::fsx_mount_name),
       .idle = needs_fsx},
      {.path = "expires_after", .field = field(&S::expires_after), .range = at_least(3600)},
  };
  return keys;
}

}  // namespace lockstep::cluster::eks
