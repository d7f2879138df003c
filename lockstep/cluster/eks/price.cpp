#include "lockstep/cluster/eks/price.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lockstep::cluster::eks {
namespace {

// List prices of us-east-1, us-east-2 and us-west-2, July 2026.
constexpr double kControlPlane = 0.10, kControlPlaneExtended = 0.60;
constexpr double kNatGateway = 0.045, kPublicAddress = 0.005;
constexpr double kVolumeGibMonth = 0.08, kHoursOfMonth = 730;

void add_nodes(Price& price, int64_t count, const InstanceType& type, const std::string& note = "") {
  if (type.dollars_per_hour == 0) price.unknown.push_back(fmt::format("{} x {}", count, type.name));
  price.items.push_back(
      {fmt::format("{} x {}", count, type.name), static_cast<double>(count) * type.dollars_per_hour, note});
}

int64_t nat_gateways(const Deployment& deployment) {
  const std::string& nat = deployment.settings.vpc.nat;
  if (nat == "none") return 0;
  return nat == "single" ? 1 : static_cast<int64_t>(deployment.cluster_zones.size());
}

Json to_json(const std::vector<PriceItem>& items) {
  Json list = Json::array();
  for (const PriceItem& item : items)
    list.push_back({{"what", item.what}, {"dollars_per_hour", item.dollars_per_hour}, {"note", item.note}});
  return list;
}

std::string line_of(const PriceItem& item) {
  return fmt::format("  {:<34} {:>9.4f}{}{}\n", item.what, item.dollars_per_hour,
                     item.note.empty() ? "" : "  ", item.note);
}

std::string gpu_note(const ClusterSettings& settings) {
  const std::string& capacity = settings.gpu_nodes.capacity;
  if (capacity == "spot") return "on-demand price: spot costs less, and is taken away at two minutes' notice";
  if (capacity == "capacity_block") return "on-demand price: a block was paid for in advance";
  if (capacity == "search" || capacity == "reservation") return "billed from the reservation on, used or not";
  return "";
}

}  // namespace

double Price::dollars_per_hour() const {
  double sum = 0;
  for (const PriceItem& item : items) sum += item.dollars_per_hour;
  return sum;
}

std::string Price::to_text() const {
  std::string text;
  for (const PriceItem& item : items) text += line_of(item);
  text += fmt::format("  {:<34} {:>9.4f}  dollars an hour{}\n", "in all", dollars_per_hour(),
                      unknown.empty() ? "" : ", and more:");
  for (const std::string& what : unknown) text += fmt::format("  no price is known for {}\n", what);
  if (!besides.empty()) text += "  besides:\n";
  for (const PriceItem& item : besides) text += line_of(item);
  return text;
}

Json Price::to_json() const {
  return {{"dollars_per_hour", dollars_per_hour()},
          {"items", eks::to_json(items)},
          {"besides", eks::to_json(besides)},
          {"unknown", unknown}};
}

Price price_of_gpu_nodes(const Deployment& deployment) {
  Price price;
  add_nodes(price, deployment.settings.gpu_nodes.count, deployment.gpu_type(), gpu_note(deployment.settings));
  return price;
}

Price price_of(const Deployment& deployment, bool extended_support) {
  const ClusterSettings& settings = deployment.settings;
  Price price = price_of_gpu_nodes(deployment);
  int64_t volume_gib = settings.gpu_nodes.count * settings.gpu_nodes.volume_gib;
  if (!settings.existing) {
    add_nodes(price, settings.system_nodes.count, deployment.system_type());
    volume_gib += settings.system_nodes.count * settings.system_nodes.volume_gib;
    price.items.push_back(
        {"EKS control plane", extended_support ? kControlPlaneExtended : kControlPlane,
         extended_support ? "extended support: a newer kubernetes_version costs 0.10" : ""});
  }
  const bool has_new_vpc = !settings.existing && settings.vpc.id.empty();
  const int64_t gateways = has_new_vpc ? nat_gateways(deployment) : 0;
  if (gateways > 0)
    price.items.push_back({gateways == 1 ? "NAT gateway" : fmt::format("{} NAT gateways", gateways),
                           static_cast<double>(gateways) * kNatGateway, ""});

  price.besides.push_back({fmt::format("{} GiB of gp3 volumes", volume_gib),
                           static_cast<double>(volume_gib) * kVolumeGibMonth / kHoursOfMonth, ""});
  if (gateways > 0) {
    price.besides.push_back({"public addresses of NAT", static_cast<double>(gateways) * kPublicAddress, ""});
    price.besides.push_back({"a GB through NAT", 0.045, "by use: image, model, packages"});
  }
  if (!settings.storage.s3.empty()) price.besides.push_back({"S3, 1000 GB", 23.0 / kHoursOfMonth, "by use"});
  static const std::set<std::string> known = {"us-east-1", "us-east-2", "us-west-2"};
  if (!known.contains(settings.region))
    price.unknown.push_back(settings.region + ": the prices are those of us-east-1");
  return price;
}

}  // namespace lockstep::cluster::eks
