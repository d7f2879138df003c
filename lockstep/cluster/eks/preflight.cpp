#include "lockstep/cluster/eks/preflight.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>

#include "lockstep/base/split.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/quota.h"
#include "lockstep/cluster/eks/version_support.h"
#include "lockstep/cluster/manifest/cluster_config.h"

namespace lockstep::cluster::eks {
namespace {

constexpr const char* kPlatform = "linux/amd64";  // of every instance type in the catalogue

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

struct Zone {
  std::string name, id;
};

class Looker {
 public:
  Looker(Aws& aws, const ClusterSettings& settings, std::string today, const ResolveImage& resolve)
      : aws_(aws),
        settings_(settings),
        today_(std::move(today)),
        resolve_(resolve),
        result_{.deployment = assumed_deployment(settings)} {}

  Preflight look() {
    tools();
    identity();
    result_.world = look_at_world(aws_, settings_);
    existing();
    kubernetes_version();
    instance_shape();
    zones();
    reservation();
    quota(result_.deployment.gpu_type(), settings_.gpu_nodes.count, "GPU quota");
    if (!settings_.existing)
      quota(result_.deployment.system_type(), settings_.system_nodes.count, "system quota");
    image();
    if (!settings_.existing && result_.world.cluster_status.empty()) dry_run();
    return std::move(result_);
  }

 private:
  void good(const std::string& name, const std::string& saw) {
    result_.checks.push_back({.name = name, .saw = saw});
  }
  void note(const std::string& name, const std::string& saw, const std::string& why,
            const std::string& fix = "") {
    result_.checks.push_back({.name = name, .state = CheckState::kNote, .saw = saw, .why = why, .fix = fix});
  }
  void fault(const std::string& name, const std::string& saw, const std::string& why,
             const std::string& fix) {
    result_.checks.push_back({.name = name, .state = CheckState::kFault, .saw = saw, .why = why, .fix = fix});
  }

  void tools() {
    const std::map<std::string, std::vector<std::string>> commands = {
        {"aws", {"aws", "--version"}},
        {"eksctl", {"eksctl", "version"}},
        {"helm", {"helm", "version", "--short"}},
        {"kubectl", {"kubectl", "version", "--client", "--output", "json"}}};
    std::vector<std::string> versions;
    for (const auto& [name, argv] : commands) {
      const std::string out = run_or_throw(aws_.runner(), {.argv = argv});
      static const std::regex number(R"([0-9]+\.[0-9]+\.[0-9]+)");
      std::smatch found;
      if (!std::regex_search(out, found, number))
        throw CommandError(fmt::format("{}: tells no version", command_line({.argv = argv})));
      versions.push_back(name + " " + found.str());
    }
    good("tools", fmt::format("{}", fmt::join(versions, ", ")));
  }

  void identity() {
    const Json caller = aws_.call({"sts", "get-caller-identity"});
    good("identity", fmt::format("{}, account {}", text_of(caller, "Arn"), text_of(caller, "Account")));
  }

  void existing() {
    const World& world = result_.world;
    if (settings_.existing && world.cluster_status != "ACTIVE") {
      fault("cluster",
            world.cluster_status.empty() ? "there is no cluster " + settings_.name
                                         : settings_.name + " is " + world.cluster_status,
            "existing: true adds to a cluster that is there",
            "check name and region, or set existing: false");
    } else if (world.cluster_status.empty()) {
      good("cluster", fmt::format("{} is not there yet", settings_.name));
    } else {
      good("cluster", fmt::format("{} is {}, Kubernetes {}, node groups: {}", settings_.name,
                                  world.cluster_status, world.cluster_version, groups_text()));
    }
    for (const Reservation& reservation : world.reservations) {
      note("our reservation",
           fmt::format("{}: {} x {} in {}, {}", reservation.id, reservation.total, reservation.type,
                       reservation.zone, reservation.state),
           "it bills; `cluster up` uses it and `cluster down` cancels it");
    }
  }

  std::string groups_text() const {
    std::vector<std::string> texts;
    for (const auto& [name, group] : result_.world.node_groups) texts.push_back(name + " " + group.status);
    return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
  }

  void kubernetes_version() {
    const std::string version =
        result_.world.cluster_version.empty() ? settings_.kubernetes_version : result_.world.cluster_version;
    const auto versions = version_support(aws_, today_);
    const auto found = versions.find(version);
    if (found == versions.end()) {
      std::vector<std::string> known;
      for (const auto& [name, support] : versions) known.push_back(name);
      return fault("kubernetes", fmt::format("EKS has no version {}", version),
                   fmt::format("it has {}", fmt::join(known, ", ")), "set kubernetes_version to one of them");
    }
    const std::string& end = found->second.end;
    result_.extended_support = found->second.is_extended;
    if (result_.extended_support)
      return note(
          "kubernetes",
          fmt::format("{} is past its standard support{}", version, end.empty() ? "" : ", since " + end),
          "the control plane costs $0.60 an hour instead of $0.10", "take a newer kubernetes_version");
    good("kubernetes",
         fmt::format("{}, standard support until {}", version, end.empty() ? "an unknown day" : end));
  }

  void instance_shape() {
    const InstanceType& type = result_.deployment.gpu_type();
    const Json answer =
        aws_.call({"ec2", "describe-instance-types", "--instance-types", std::string(type.name)});
    const Json& list = part_of(answer, "InstanceTypes");
    if (list.empty())
      return fault("instance type", fmt::format("EC2 knows no {} in {}", type.name, aws_.region()),
                   "it is offered elsewhere", "take another region or gpu_nodes.type");
    const Json& shape = list.front();
    const int64_t efa = number_of(part_of(part_of(shape, "NetworkInfo"), "EfaInfo"), "MaximumEfaInterfaces");
    if (settings_.uses_efa() && efa < result_.deployment.efa_per_pod())
      return fault("instance type", fmt::format("{} has {} EFA interfaces", type.name, efa),
                   fmt::format("{} are asked for", result_.deployment.efa_per_pod()), "lower gpu_nodes.efa");
    good("instance type", fmt::format("{}: {} vCPUs, {} EFA", type.name,
                                      number_of(part_of(shape, "VCpuInfo"), "DefaultVCpus"), efa));
  }

  std::vector<Zone> zones_of_region() {
    std::vector<Zone> zones;
    const Json answer = aws_.call({"ec2", "describe-availability-zones"});
    for (const Json& zone : part_of(answer, "AvailabilityZones")) {
      const std::string kind = text_of(zone, "ZoneType");
      if (text_of(zone, "State") == "available" && (kind.empty() || kind == "availability-zone"))
        zones.push_back({text_of(zone, "ZoneName"), text_of(zone, "ZoneId")});
    }
    return zones;
  }

  std::vector<std::string> zones_offering(const std::string& type) {
    std::vector<std::string> zones;
    const Json answer = aws_.call({"ec2", "describe-instance-type-offerings", "--location-type",
                                   "availability-zone", "--filters", "Name=instance-type,Values=" + type});
    for (const Json& offer : part_of(answer, "InstanceTypeOfferings"))
      zones.push_back(text_of(offer, "Location"));
    std::sort(zones.begin(), zones.end());
    return zones;
  }

  // Where GPU nodes can be: offered, allowed by the settings, and reached by the cluster's subnets.
  void zones() {
    const std::string& type = settings_.gpu_nodes.type;
    zones_ = zones_of_region();
    const std::vector<std::string> offering = zones_offering(type);
    if (offering.empty())
      return fault("zones", fmt::format("no zone of {} offers {}", aws_.region(), type),
                   "the nodes could go nowhere", "take another region or gpu_nodes.type");
    std::vector<std::string> allowed = settings_.gpu_nodes.zones;
    std::vector<std::string> cluster_zones = settings_.zones;
    for (const auto& [zone, subnet] : settings_.vpc.private_subnets) cluster_zones.push_back(zone);
    if (!result_.world.cluster_subnet_zones.empty()) cluster_zones = result_.world.cluster_subnet_zones;
    for (const std::string& zone : offering) {
      const bool is_allowed = allowed.empty() || contains(allowed, zone);
      if (is_allowed && (cluster_zones.empty() || contains(cluster_zones, zone)))
        result_.candidates.push_back(zone);
    }
    if (result_.candidates.empty())
      return fault(
          "zones", fmt::format("{} is offered in {}", type, fmt::join(offering, ", ")),
          fmt::format("the nodes may be in {}", fmt::join(allowed.empty() ? cluster_zones : allowed, ", ")),
          "change gpu_nodes.zones or zones");
    good("zones", fmt::format("{} is offered in {}", type, fmt::join(offering, ", ")));
    place(cluster_zones);
  }

  void place(const std::vector<std::string>& given) {
    Deployment& deployment = result_.deployment;
    deployment.zones_are_assumed = false;
    deployment.gpu_zones = settings_.gpu_nodes.zones;
    if (deployment.gpu_zones.empty()) deployment.gpu_zones = {result_.candidates.front()};
    deployment.cluster_zones = given;
    if (!given.empty()) return;
    // In every zone that could take the nodes, so that a later search has them to choose from.
    deployment.cluster_zones = result_.candidates;
    for (const Zone& zone : zones_) {
      if (deployment.cluster_zones.size() < 2 && !contains(deployment.cluster_zones, zone.name))
        deployment.cluster_zones.push_back(zone.name);
    }
    if (deployment.cluster_zones.size() > 3) deployment.cluster_zones.resize(3);
    result_.candidates.resize(std::min(result_.candidates.size(), deployment.cluster_zones.size()));
  }

  void reservation() {
    const GpuNodes& nodes = settings_.gpu_nodes;
    if (nodes.reservation.empty()) return;
    const Reservation found = find_reservation(aws_, nodes.reservation);
    const std::string saw = fmt::format("{}: {} of {} x {} free in {} ({}), {}", found.id, found.available,
                                        found.total, found.type, found.zone, found.zone_id, found.state);
    const bool is_in_use = result_.world.node_groups.contains(nodes.name);
    if (found.state != "active")
      return fault("reservation", saw, "only an active one takes nodes", "wait until it is, or name another");
    if (found.type != nodes.type)
      return fault("reservation", saw, "gpu_nodes.type is " + nodes.type, "name the reservation's type");
    if (!is_in_use && found.available < nodes.count)
      return fault("reservation", saw, fmt::format("{} nodes are wanted", nodes.count),
                   "lower gpu_nodes.count");
    const std::string zone = zone_by_id(found);
    if (!contains(result_.candidates, zone))
      return fault("reservation", saw,
                   fmt::format("the nodes may be in {}", fmt::join(result_.candidates, ", ")),
                   fmt::format("set gpu_nodes.zones: [{}], or name a reservation that is there", zone));
    result_.deployment.gpu_zones = {zone};
    result_.candidates = {zone};
    good("reservation", saw);
  }

  // Zones' names differ between accounts, and a shared reservation may tell its owner's: the id is the same.
  std::string zone_by_id(const Reservation& reservation) const {
    for (const Zone& zone : zones_) {
      if (zone.id == reservation.zone_id) return zone.name;
    }
    return reservation.zone;
  }

  void quota(const InstanceType& type, int64_t count, const std::string& name) {
    if (result_.world.node_groups.contains(type.gpus > 0 ? settings_.gpu_nodes.name
                                                         : settings_.system_nodes.name))
      return good(name, "the nodes are there already");
    const int64_t needed = type.vcpus * count;
    int64_t limit = 0;
    try {
      limit = vcpu_quota(aws_, type);
    } catch (const AwsError& error) {
      return note(name, fmt::format("unknown: {}", error.what()),
                  "too low a quota shows only when nodes are launched");
    }
    const std::string saw = fmt::format("{} vCPUs of \"{}\", {} needed", limit, type.quota_name(), needed);
    if (limit >= needed) return good(name, saw);
    fault(name, saw, "no node would be launched: VcpuLimitExceeded",
          quota_increase(type, needed, aws_.region()));
  }

  // Everything that is made names the image by its digest: a tag can move between two pods of one run.
  void image() {
    const std::string& reference = settings_.image.reference;
    if (!resolve_) {
      if (settings_.image.is_pinned()) return good("image", reference);
      return note("image", reference + " is a tag", "it can move between two pods of one run",
                  "set image.reference to one with a digest: `cluster up` wants it");
    }
    try {
      const ResolvedImage image = resolve_(ImageReference::parse(reference), kPlatform);
      result_.deployment.settings.image.reference = image.image.text();
      good("image", fmt::format("{} is {}, {}, built {}", reference, image.image.digest, image.platform,
                                image.created.empty() ? "on an unknown day" : image.created));
    } catch (const ConfigError& error) {
      fault("image", error.what(), fmt::format("the nodes are {}, and could not pull it", kPlatform),
            "set image.reference to one that its registry has");
    } catch (const CommandError& error) {
      const std::string saw = fmt::format("{}: not known: {}", reference, error.what());
      if (settings_.image.is_pinned())
        note("image", saw, "the nodes may reach the registry all the same, or not");
      else
        fault("image", saw, "a tag can move between two pods of one run",
              "set image.reference to one with a digest, or try again once the registry answers");
    }
  }

  // eksctl reads what it will be given, and prints what it understood. It refuses a key that it does not
  // know, but takes the reservation's in other letters (…Id) for known, and drops it in silence.
  void dry_run() {
    const Command command{.argv = {"eksctl", "create", "cluster", "-f", "-", "--dry-run"},
                          .input = manifest::whole_config(result_.deployment).to_text(),
                          .timeout = std::chrono::minutes(2)};
    const CommandResult ran = aws_.runner().run(command);
    if (ran.exit_code != 0 || ran.timed_out) {
      return fault(
          "eksctl", "refuses the generated settings: " + failure_line(ran.err.empty() ? ran.out : ran.err),
          "it would refuse them for the real cluster too", "see `lockstep cluster plan FILE --out FOLDER`");
    }
    const std::string& reservation = result_.deployment.reservation;
    const bool is_lost =
        !reservation.empty() && ran.out.find("capacityReservationID: " + reservation) == std::string::npos;
    if (is_lost)
      return fault("eksctl", "does not take the reservation over into its settings",
                   "the nodes would be launched outside of it", "take another version of eksctl");
    good("eksctl", "takes the generated settings (dry run)");
  }

  Aws& aws_;
  const ClusterSettings& settings_;
  std::string today_;
  const ResolveImage& resolve_;
  std::vector<Zone> zones_;
  Preflight result_;
};

}  // namespace

Preflight look_before(Aws& aws, const ClusterSettings& settings, const std::string& today,
                      const ResolveImage& resolve) {
  return Looker(aws, settings, today, resolve).look();
}

}  // namespace lockstep::cluster::eks
