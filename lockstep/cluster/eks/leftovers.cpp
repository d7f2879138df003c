#include "lockstep/cluster/eks/leftovers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/catalogue.h"
#include "lockstep/cluster/eks/world.h"

namespace lockstep::cluster::eks {
namespace {

constexpr double kVolumeGibHour = 0.08 / 730, kNatGatewayHour = 0.045, kAddressHour = 0.005,
                 kBalancerHour = 0.0225, kLustreGibHour = 0.14 / 730;

std::string owned_filter(const std::string& cluster) {
  return fmt::format("Name=tag:kubernetes.io/cluster/{},Values=owned", cluster);
}
std::string eksctl_filter(const std::string& cluster) {
  return fmt::format("Name=tag:alpha.eksctl.io/cluster-name,Values={}", cluster);
}

bool has_tag(const Json& object, const std::string& cluster) {
  for (const Json& tag : part_of(object, "Tags")) {
    const std::string key = text_of(tag, "Key"), value = text_of(tag, "Value");
    const bool is_named = key == "lockstep/cluster" || key == "alpha.eksctl.io/cluster-name" ||
                          key == "elbv2.k8s.aws/cluster" || key == "eks:cluster-name";
    if ((is_named && value == cluster) || key == "kubernetes.io/cluster/" + cluster) return true;
  }
  return false;
}

class Search {
 public:
  Search(Aws& aws, const std::string& cluster) : aws_(aws), cluster_(cluster) {}

  LeftoverSearch run() {
    ask("reservations", [&] { reservations(); });
    ask("stacks", [&] { stacks(); });
    ask("instances", [&] { instances(); });
    ask("load balancers", [&] { load_balancers(); });
    ask("volumes", [&] { volumes(); });
    ask("network interfaces", [&] { network_interfaces(); });
    ask("security groups", [&] { security_groups(); });
    ask("NAT gateways", [&] { nat_gateways(); });
    ask("addresses", [&] { addresses(); });
    ask("log groups", [&] { log_groups(); });
    ask("file systems", [&] { file_systems(); });
    return std::move(search_);
  }

 private:
  void ask(const std::string& kinds, const std::function<void()>& query) {
    ++search_.num_kinds;
    try {
      query();
    } catch (const AwsError& error) {
      search_.not_asked.push_back(fmt::format("{}: {}", kinds, error.what()));
    }
  }
  void add(Leftover leftover) { search_.found.push_back(std::move(leftover)); }

  void reservations() {
    for (const Reservation& one : our_reservations(aws_, cluster_)) {
      const InstanceType* type = find_instance_type(one.type);
      add({"reservation",
           one.id,
           fmt::format("{} x {}, until {}", one.total, one.type, one.end),
           type ? static_cast<double>(one.total) * type->dollars_per_hour : 0,
           {"ec2", "cancel-capacity-reservation", "--capacity-reservation-id", one.id}});
    }
  }

  void stacks() {
    const Json answer = aws_.call({"cloudformation", "describe-stacks"});
    for (const Json& stack : part_of(answer, "Stacks")) {
      const std::string name = text_of(stack, "StackName"), status = text_of(stack, "StackStatus");
      if (name.starts_with("eksctl-" + cluster_ + "-") && has_tag(stack, cluster_))
        add({"stack", name, status, 0, {}});
    }
  }

  void instances() {
    const Json answer = aws_.call({"ec2", "describe-instances", "--filters",
                                   fmt::format("Name=tag:eks:cluster-name,Values={}", cluster_),
                                   "Name=instance-state-name,Values=pending,running,stopping,stopped"});
    for (const Json& group : part_of(answer, "Reservations")) {
      for (const Json& instance : part_of(group, "Instances")) {
        const std::string name = text_of(instance, "InstanceType");
        const InstanceType* type = find_instance_type(name);
        add({"instance",
             text_of(instance, "InstanceId"),
             name,
             type ? type->dollars_per_hour : 0,
             {"ec2", "terminate-instances", "--instance-ids", text_of(instance, "InstanceId")}});
      }
    }
  }

  void load_balancers() {
    const Json answer = aws_.call({"elbv2", "describe-load-balancers"});
    for (const Json& balancer : part_of(answer, "LoadBalancers")) {
      const std::string arn = text_of(balancer, "LoadBalancerArn");
      const Json tags = aws_.call({"elbv2", "describe-tags", "--resource-arns", arn});
      const Json& descriptions = part_of(tags, "TagDescriptions");
      if (!descriptions.empty() && has_tag(descriptions.front(), cluster_))
        add({"load balancer",
             arn,
             text_of(balancer, "Type"),
             kBalancerHour,
             {"elbv2", "delete-load-balancer", "--load-balancer-arn", arn}});
    }
  }

  void volumes() {
    const Json answer = aws_.call({"ec2", "describe-volumes", "--filters", owned_filter(cluster_)});
    for (const Json& volume : part_of(answer, "Volumes")) {
      const int64_t gib = number_of(volume, "Size");
      const std::string id = text_of(volume, "VolumeId");
      const bool is_free = text_of(volume, "State") == "available";
      add({"volume", id, fmt::format("{} GiB, {}", gib, text_of(volume, "State")),
           static_cast<double>(gib) * kVolumeGibHour,
           is_free ? std::vector<std::string>{"ec2", "delete-volume", "--volume-id", id}
                   : std::vector<std::string>{}});
    }
  }

  void network_interfaces() {
    const Json answer =
        aws_.call({"ec2", "describe-network-interfaces", "--filters",
                   fmt::format("Name=tag:cluster.k8s.amazonaws.com/name,Values={}", cluster_)});
    for (const Json& one : part_of(answer, "NetworkInterfaces")) {
      const std::string id = text_of(one, "NetworkInterfaceId"), status = text_of(one, "Status");
      add({"network interface", id, status, 0,
           status == "available"
               ? std::vector<std::string>{"ec2", "delete-network-interface", "--network-interface-id", id}
               : std::vector<std::string>{}});
    }
  }

  void security_groups() {
    const Json answer = aws_.call({"ec2", "describe-security-groups", "--filters", owned_filter(cluster_)});
    for (const Json& group : part_of(answer, "SecurityGroups")) {
      const std::string id = text_of(group, "GroupId");
      add({"security group",
           id,
           text_of(group, "GroupName"),
           0,
           {"ec2", "delete-security-group", "--group-id", id}});
    }
  }

  void nat_gateways() {
    const Json answer = aws_.call({"ec2", "describe-nat-gateways", "--filter", eksctl_filter(cluster_),
                                   "Name=state,Values=pending,available,failed"});
    for (const Json& gateway : part_of(answer, "NatGateways")) {
      const std::string id = text_of(gateway, "NatGatewayId");
      add({"NAT gateway",
           id,
           text_of(gateway, "State"),
           kNatGatewayHour,
           {"ec2", "delete-nat-gateway", "--nat-gateway-id", id}});
    }
  }

  void addresses() {
    const Json answer = aws_.call({"ec2", "describe-addresses", "--filters", eksctl_filter(cluster_)});
    for (const Json& address : part_of(answer, "Addresses")) {
      const std::string id = text_of(address, "AllocationId");
      add({"address",
           id,
           text_of(address, "PublicIp"),
           kAddressHour,
           {"ec2", "release-address", "--allocation-id", id}});
    }
  }

  void log_groups() {
    const std::string prefix = fmt::format("/aws/eks/{}/", cluster_);
    const Json answer = aws_.call({"logs", "describe-log-groups", "--log-group-name-prefix", prefix});
    for (const Json& group : part_of(answer, "logGroups")) {
      const std::string name = text_of(group, "logGroupName");
      add({"log group", name, "", 0, {"logs", "delete-log-group", "--log-group-name", name}});
    }
  }

  void file_systems() {
    const Json answer = aws_.call({"fsx", "describe-file-systems"});
    for (const Json& system : part_of(answer, "FileSystems")) {
      if (!has_tag(system, cluster_)) continue;
      const int64_t gib = number_of(system, "StorageCapacity");
      add({"file system",
           text_of(system, "FileSystemId"),
           fmt::format("{} GiB: holds data, and is never removed here", gib),
           static_cast<double>(gib) * kLustreGibHour,
           {}});
    }
  }

  Aws& aws_;
  const std::string& cluster_;
  LeftoverSearch search_;
};

}  // namespace

LeftoverSearch find_leftovers(Aws& aws, const std::string& cluster) { return Search(aws, cluster).run(); }

std::string to_text(const std::vector<Leftover>& leftovers) {
  std::string text;
  for (const Leftover& one : leftovers)
    text += fmt::format("  {:<18} {:<40} {:>8.4f} dollars an hour  {}\n", one.kind, one.id,
                        one.dollars_per_hour, one.note);
  return text;
}

Json to_json(const std::vector<Leftover>& leftovers) {
  Json list = Json::array();
  for (const Leftover& one : leftovers)
    list.push_back(
        {{"kind", one.kind}, {"id", one.id}, {"note", one.note}, {"dollars_per_hour", one.dollars_per_hour}});
  return list;
}

}  // namespace lockstep::cluster::eks
