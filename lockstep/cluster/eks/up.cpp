#include "lockstep/cluster/eks/up.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/base/yaml_text.h"
#include "lockstep/cluster/eks/capacity_search.h"
#include "lockstep/cluster/eks/kubernetes.h"
#include "lockstep/cluster/eks/readiness.h"
#include "lockstep/cluster/eks/stacks.h"
#include "lockstep/cluster/eks/step.h"
#include "lockstep/cluster/eks/wait_until_ready.h"
#include "lockstep/cluster/manifest/cluster_config.h"
#include "lockstep/cluster/manifest/network_policy.h"
#include "lockstep/cluster/manifest/ray_cluster.h"
#include "lockstep/cluster/manifest/storage.h"

namespace lockstep::cluster::eks {
namespace {

using std::chrono::minutes;

constexpr minutes kNodesLimit{15};
constexpr const char* kWayOn = "`lockstep cluster up` goes on from here";

std::string random_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 8; ++i) token += fmt::format("{:08x}", random());
  return token;
}

class Maker {
 public:
  Maker(const Preflight& preflight, const Surroundings& surroundings)
      : surroundings_(surroundings),
        aws_(surroundings.runner, preflight.deployment.settings.region),
        deployment_(preflight.deployment),
        candidates_(preflight.candidates),
        settings_(deployment_.settings) {}

  void make() {
    if (!settings_.image.is_pinned())
      throw ConfigError(fmt::format(
          "cluster: image.reference {} is a tag, which can move between two pods of one run: give "
          "it by digest (…@sha256:…)",
          settings_.image.reference));
    try {
      find_room();
      make_cluster();
      make_gpu_nodes();
    } catch (...) {
      release_reservation();
      throw;
    }
    Kubernetes kubernetes(surroundings_.runner, deployment_);
    install(kubernetes);
    surroundings_.say(fmt::format("ready: {} GPUs in {} pods, namespace {}", gpus(),
                                  settings_.gpu_nodes.count, settings_.namespace_name));
  }

 private:
  int64_t gpus() const { return settings_.gpu_nodes.count * deployment_.gpu_type().gpus; }

  World world() { return look_at_world(aws_, settings_); }

  void run(const Step& step) {
    surroundings_.say(fmt::format("{} ({})", step.what, step.why));
    run_step(surroundings_.runner, step);
  }
  void run_command(const std::string& what, Command command) {
    surroundings_.say(what);
    run_or_throw(surroundings_.runner, command);
  }

  bool has_gpu_nodes(const World& world) const {
    const auto group = world.node_groups.find(settings_.gpu_nodes.name);
    return group != world.node_groups.end() && group->second.status == "ACTIVE" && group->second.desired > 0;
  }

  // Also while they are being made: the reservation is theirs.
  bool needs_no_room(const World& world) const {
    const auto group = world.node_groups.find(settings_.gpu_nodes.name);
    return has_gpu_nodes(world) || (group != world.node_groups.end() && (group->second.status == "CREATING" ||
                                                                         group->second.status == "UPDATING"));
  }

  void find_room() {
    if (settings_.gpu_nodes.capacity != "search") return;
    if (needs_no_room(world())) return;
    const auto lasting = settings_.expires_after.value_or(settings_.gpu_nodes.reserve_for);
    const std::string end = format_utc(surroundings_.now() + lasting).substr(0, 19) + "Z";
    surroundings_.say(fmt::format("looking for {} x {} in {}", settings_.gpu_nodes.count,
                                  settings_.gpu_nodes.type, fmt::join(candidates_, ", ")));
    const Reservation reservation = find_capacity(aws_, deployment_, candidates_, end);
    surroundings_.say(fmt::format("reserved in {}: {}, until {} at the latest; it bills from now on",
                                  reservation.zone, reservation.id, end));
    deployment_.reservation = reservation.id;
    deployment_.gpu_zones = {reservation.zone};
  }

  // Never throws: what went wrong before is what the user must see.
  void release_reservation() noexcept {
    if (settings_.gpu_nodes.capacity != "search") return;
    try {
      if (has_gpu_nodes(world())) return;
      cancel_our_reservations(aws_, settings_.name);
      surroundings_.say("no reservation of this cluster is left");
    } catch (const std::exception& error) {
      surroundings_.say(
          fmt::format("a reservation may still bill ({}): `lockstep cluster down` cancels it", error.what()));
    }
  }

  void make_cluster() {
    if (settings_.existing) return;
    const World now = world();
    const auto region_and_name = [&](std::vector<std::string> argv) {
      argv.insert(argv.end(), {"--region", settings_.region, "--name", settings_.name});
      return argv;
    };
    if (now.cluster_status == "DELETING")
      run_command(
          "waiting until the former cluster is gone",
          {.argv = region_and_name({"aws", "eks", "wait", "cluster-deleted"}), .timeout = minutes(30)});
    if (now.cluster_status == "FAILED")
      run_command("removing the failed cluster",
                  {.argv = region_and_name({"eksctl", "delete", "cluster", "--wait", "--force"}),
                   .timeout = minutes(50)});
    if (now.cluster_status == "CREATING")
      run_command(
          "waiting for the cluster, which is being made",
          {.argv = region_and_name({"aws", "eks", "wait", "cluster-active"}), .timeout = minutes(40)});
    if (now.cluster_status == "CREATING" || now.cluster_status == "ACTIVE") return complete_cluster();
    // Stacks without their cluster: what a former try left.
    delete_stacks(aws_, world(), [](const std::string&) { return true; });
    run(create_cluster(deployment_));
  }

  // What eksctl makes after the cluster itself; each is left as it is where it is there.
  void complete_cluster() {
    const manifest::ManifestFile config = manifest::cluster_config(deployment_);
    const auto with_config = [&](std::vector<std::string> argv) {
      return Command{.argv = std::move(argv), .input = config.to_text(), .timeout = minutes(40)};
    };
    surroundings_.say("the cluster is there; looking after what belongs to it");
    make_identities_possible();
    run_command("add-ons", with_config({"eksctl", "create", "addon", "-f", "-"}));
    if (!settings_.storage.s3.empty())
      run_command("the pods' identity",
                  with_config({"eksctl", "create", "iamserviceaccount", "-f", "-", "--approve"}));
    remove_failed_group(settings_.system_nodes.name);
    const World now = world();
    if (!now.node_groups.contains(settings_.system_nodes.name))
      run_command("the system nodes", with_config({"eksctl", "create", "nodegroup", "-f", "-"}));
    else
      wait_for_group(now, settings_.system_nodes.name);
  }

  // Pods get an identity in AWS by the cluster's OIDC provider.
  void make_identities_possible() {
    run_command("the cluster's identity provider",
                {.argv = {"eksctl", "utils", "associate-iam-oidc-provider", "--region", settings_.region,
                          "--cluster", settings_.name, "--approve"},
                 .timeout = minutes(10)});
  }

  void wait_for_group(const World& now, const std::string& name) {
    if (now.node_groups.at(name).status == "ACTIVE") return;
    run_command(fmt::format("waiting for node group {}", name),
                {.argv = {"aws", "eks", "wait", "nodegroup-active", "--region", settings_.region,
                          "--cluster-name", settings_.name, "--nodegroup-name", name},
                 .timeout = minutes(40)});
  }

  // A group that failed, or whose nodes were taken away at an expiry, and a stack without its group.
  void remove_failed_group(const std::string& name) {
    const World now = world();
    const auto group = now.node_groups.find(name);
    const bool is_there = group != now.node_groups.end();
    if (is_there && (group->second.status == "CREATE_FAILED" || group->second.status == "DEGRADED" ||
                     (group->second.status == "ACTIVE" && group->second.desired == 0))) {
      run_command(fmt::format("removing node group {} ({} {})", name, group->second.status,
                              fmt::join(group->second.issues, "; ")),
                  {.argv = {"eksctl", "delete", "nodegroup", "--region", settings_.region, "--cluster",
                            settings_.name, "--name", name, "--wait", "--drain=false"},
                   .timeout = minutes(40)});
    }
    if (is_there) return;
    const std::string stack = node_group_stack(settings_.name, name);
    delete_stacks(aws_, now, [&](const std::string& other) { return other == stack; });
  }

  void make_gpu_nodes() {
    if (settings_.existing && !settings_.storage.s3.empty()) {
      make_identities_possible();
      run(create_service_account(deployment_));
    }
    const std::string& name = settings_.gpu_nodes.name;
    remove_failed_group(name);
    const World now = world();
    if (now.node_groups.contains(name)) {
      wait_for_group(now, name);
      scale(now.node_groups.at(name));
    } else {
      create_group();
    }
    set_expiry();
  }

  void create_group() {
    try {
      run(create_gpu_nodes(deployment_));
    } catch (const InterruptedError&) {
      throw;
    } catch (const CommandError& error) {
      const World after = world();
      const auto group = after.node_groups.find(settings_.gpu_nodes.name);
      if (group == after.node_groups.end() || group->second.issues.empty()) throw;
      throw CommandError(fmt::format("cluster: the GPU nodes were not made: {} ({})",
                                     fmt::join(group->second.issues, "; "), error.what()));
    }
  }

  void scale(const NodeGroup& group) {
    if (group.desired == settings_.gpu_nodes.count) return;
    const std::string count = std::to_string(settings_.gpu_nodes.count);
    run_command(
        fmt::format("{} GPU nodes instead of {}", count, group.desired),
        {.argv = {"eksctl", "scale", "nodegroup", "--region", settings_.region, "--cluster", settings_.name,
                  "--name", settings_.gpu_nodes.name, "--nodes", count, "--nodes-max", count, "--wait"},
         .timeout = minutes(40)});
  }

  // The Auto Scaling group itself takes the nodes away: nothing of ours has to be alive then.
  void set_expiry() {
    if (!settings_.expires_after) return;
    const std::string group = world().node_groups.at(settings_.gpu_nodes.name).scaling_group;
    const std::string at = format_utc(surroundings_.now() + *settings_.expires_after).substr(0, 19) + "Z";
    aws_.call({"autoscaling", "put-scheduled-update-group-action", "--auto-scaling-group-name", group,
               "--scheduled-action-name", "lockstep-expiry", "--start-time", at, "--min-size", "0",
               "--desired-capacity", "0"});
    surroundings_.say(fmt::format("the GPU nodes are taken away at {}", at));
  }

  void install(Kubernetes& kubernetes) {
    const std::string& kubeconfig = kubernetes.kubeconfig();
    run(install_chart(manifest::nvidia_plugin(deployment_), kubeconfig));
    if (settings_.uses_efa()) run(install_chart(manifest::efa_plugin(deployment_), kubeconfig));
    wait_until_ready(
        surroundings_, "the GPU nodes", kNodesLimit, [&] { return look_at_nodes(kubernetes, deployment_); },
        kWayOn);
    run(apply_ray_crds(deployment_, kubeconfig));
    run(install_chart(manifest::kuberay_operator(deployment_), kubeconfig));
    run(apply(manifest::network_policy(deployment_), "before any pod of Ray's", kubeconfig));
    make_token(kubernetes);
    if (!settings_.storage.fsx_id.empty())
      run(apply(manifest::fsx_volume(deployment_), "where runs live", kubeconfig));
    run(apply(manifest::ray_cluster(deployment_), "head and workers", kubeconfig));
    wait_until_ready(
        surroundings_, "Ray", kRayLimit, [&] { return look_at_ray(kubernetes, deployment_); }, kWayOn);
    check_cuda(kubernetes, deployment_);
  }

  // Only where the operator does not. The token goes in by standard input, and is printed nowhere.
  void make_token(Kubernetes& kubernetes) {
    if (deployment_.operator_makes_token()) return;
    const std::string name = deployment_.token_secret(), space = settings_.namespace_name;
    if (!kubernetes
             .kubectl({"get", "secret", name, "--namespace", space, "--ignore-not-found", "--output", "name"})
             .empty())
      return;
    const Json secret = {{"apiVersion", "v1"},
                         {"kind", "Secret"},
                         {"metadata", {{"name", name}, {"namespace", space}}},
                         {"stringData", {{"auth_token", random_token()}}}};
    surroundings_.say("Ray's token");
    kubernetes.kubectl({"apply", "-f", "-"}, yaml_text(secret));
  }

  const Surroundings& surroundings_;
  Aws aws_;
  Deployment deployment_;
  std::vector<std::string> candidates_;
  const ClusterSettings& settings_;  // deployment_'s
};

}  // namespace

void up(const Preflight& preflight, const Surroundings& surroundings) {
  Maker(preflight, surroundings).make();
}

}  // namespace lockstep::cluster::eks
