#include "lockstep/cluster/eks/down.h"

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/capacity_search.h"
#include "lockstep/cluster/eks/kubernetes.h"
#include "lockstep/cluster/eks/stacks.h"
#include "lockstep/cluster/eks/world.h"

namespace lockstep::cluster::eks {
namespace {

using std::chrono::minutes;

class Remover {
 public:
  Remover(const ClusterSettings& settings, const Surroundings& surroundings)
      : settings_(settings), surroundings_(surroundings), aws_(surroundings.runner, settings.region) {}

  LeftoverSearch remove() {
    const World world = look_at_world(aws_, settings_);
    if (world.cluster_status == "ACTIVE") attempt("what runs in the cluster", [&] { empty_cluster(world); });
    attempt("the nodes and the cluster",
            [&] { settings_.existing ? remove_gpu_nodes(world) : remove_cluster(world); });
    attempt("the reservations", [&] { cancel_our_reservations(aws_, settings_.name); });
    if (!settings_.existing) attempt("what is left behind", [&] { remove_leftovers(); });
    LeftoverSearch search;
    attempt("the search for leftovers", [&] { search = find_leftovers(aws_, settings_.name); });
    if (first_failure_) throw CommandError(*first_failure_);
    return search;
  }

 private:
  void attempt(const std::string& what, const std::function<void()>& action) {
    try {
      action();
    } catch (const InterruptedError&) {
      throw;
    } catch (const Error& error) {
      surroundings_.say(fmt::format("{}: {}", what, error.what()));
      if (!first_failure_)
        first_failure_ =
            fmt::format("cluster: {} could not be removed: {}. `lockstep cluster down` goes on from here",
                        what, error.what());
    }
  }

  void run(const std::string& what, const Command& command) {
    surroundings_.say(what);
    run_or_throw(surroundings_.runner, command);
  }

  // Volumes and load balancers belong to what asked for them: once the cluster is gone nobody takes them
  // away.
  void empty_cluster(const World& world) {
    Kubernetes kubernetes(surroundings_.runner, assumed_deployment(settings_));
    const std::string& space = settings_.namespace_name;
    surroundings_.say("Ray's jobs and clusters");
    if (has_ray_kinds(kubernetes))
      kubernetes.kubectl(
          {"delete", "rayjobs.ray.io,rayclusters.ray.io", "--all", "--namespace", space, "--timeout=180s"},
          "", minutes(4));
    surroundings_.say("volumes");
    kubernetes.kubectl({"delete", "persistentvolumeclaims", "--all", "--namespace", space, "--timeout=180s"},
                       "", minutes(4));
    if (!settings_.existing && !world.node_groups.empty()) remove_load_balancers(kubernetes);
  }

  static bool has_ray_kinds(Kubernetes& kubernetes) {
    return !kubernetes
                .kubectl({"get", "customresourcedefinitions", "rayclusters.ray.io", "--ignore-not-found",
                          "--output", "name"})
                .empty();
  }

  void remove_load_balancers(Kubernetes& kubernetes) {
    const Json services = kubernetes.get({"services", "--all-namespaces"});
    for (const Json& service : part_of(services, "items")) {
      if (text_of(part_of(service, "spec"), "type") != "LoadBalancer") continue;
      const Json& metadata = part_of(service, "metadata");
      const std::string name = text_of(metadata, "name");
      surroundings_.say(fmt::format("load balancer of service {}", name));
      kubernetes.kubectl({"delete", "service", name, "--namespace", text_of(metadata, "namespace")}, "",
                         minutes(5));
    }
  }

  void remove_gpu_nodes(const World& world) {
    const std::string& name = settings_.gpu_nodes.name;
    if (world.node_groups.contains(name))
      run("the GPU nodes", {.argv = {"eksctl", "delete", "nodegroup", "--region", settings_.region,
                                     "--cluster", settings_.name, "--name", name, "--wait", "--drain=false"},
                            .timeout = minutes(40)});
    else
      delete_stacks(aws_, world, [&](const std::string& stack) {
        return stack == node_group_stack(settings_.name, name);
      });
    if (!settings_.storage.s3.empty())
      run("the pods' identity", {.argv = {"eksctl", "delete", "iamserviceaccount", "--region",
                                          settings_.region, "--cluster", settings_.name, "--namespace",
                                          settings_.namespace_name, "--name", kServiceAccount, "--wait"},
                                 .timeout = minutes(15)});
  }

  void remove_cluster(const World& world) {
    // It cannot be removed before it is made.
    if (world.cluster_status == "CREATING")
      run("waiting for the cluster, which is being made",
          {.argv = {"aws", "eks", "wait", "cluster-active", "--region", settings_.region, "--name",
                    settings_.name},
           .timeout = minutes(40)});
    if (world.cluster_status == "DELETING")
      run("waiting until the cluster is gone", {.argv = {"aws", "eks", "wait", "cluster-deleted", "--region",
                                                         settings_.region, "--name", settings_.name},
                                                .timeout = minutes(40)});
    else if (!world.cluster_status.empty())
      run("the nodes and the cluster: takes 10 to 15 minutes",
          {.argv = {"eksctl", "delete", "cluster", "--region", settings_.region, "--name", settings_.name,
                    "--wait", "--force", "--disable-nodegroup-eviction"},
           .timeout = minutes(60)});
    // Of a half-made one, and what eksctl passed over.
    delete_stacks(aws_, look_at_world(aws_, settings_), [](const std::string&) { return true; });
  }

  void remove_leftovers() {
    for (const Leftover& leftover : find_leftovers(aws_, settings_.name).found) {
      if (leftover.remove.empty()) continue;
      surroundings_.say(fmt::format("{} {}, left behind", leftover.kind, leftover.id));
      aws_.call(leftover.remove);
    }
  }

  const ClusterSettings& settings_;
  const Surroundings& surroundings_;
  Aws aws_;
  std::optional<std::string> first_failure_;
};

}  // namespace

LeftoverSearch down(const ClusterSettings& settings, const Surroundings& surroundings) {
  return Remover(settings, surroundings).remove();
}

}  // namespace lockstep::cluster::eks
