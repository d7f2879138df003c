#include "lockstep/cluster/accept/accept_update.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/base/byte_size.h"
#include "lockstep/base/error.h"
#include "lockstep/cluster/accept/idle.h"
#include "lockstep/cluster/eks/kubernetes_object.h"
#include "lockstep/cluster/eks/ray_image.h"
#include "lockstep/cluster/eks/wait_until_ready.h"
#include "lockstep/cluster/image/image_reference.h"
#include "lockstep/cluster/image/running_image.h"

namespace lockstep::cluster::accept {
namespace {

eks::Deployment deployment_of(const Update& update, const ImageLock& lock) {
  return eks::assumed_deployment(settings_with(update.settings, lock));
}

void require_locked(eks::Kubernetes& kubernetes, const Update& update) {
  const eks::ClusterSettings& settings = update.settings;
  const auto images = running_images(
      eks::list_pods(kubernetes, settings.namespace_name, "ray.io/cluster=" + settings.ray_cluster),
      update.before);
  for (const RunningImage& image : images) {
    if (image.state != ImageState::kLocked)
      throw GuardError(
          fmt::format("image: there is nothing to compare with: {}/{} {}. `{}` brings the cluster to it",
                      image.pod, image.container, image.remark, update.way_back));
  }
  if (images.empty())
    throw ConfigError(fmt::format("image: RayCluster {} has no pods in {}: `lockstep cluster up` makes them",
                                  settings.ray_cluster, settings.namespace_name));
}

class Acceptor {
 public:
  Acceptor(const Update& update, const eks::Surroundings& surroundings)
      : update_(update),
        surroundings_(surroundings),
        old_(deployment_of(update, update.before)),
        new_(deployment_of(update, update.after)),
        kubernetes_(surroundings.runner, old_) {}

  Decision decide() {
    require_update_possible(kubernetes_, update_);
    const Measured before =
        measure(kubernetes_, old_, update_.before, "before", update_.measure, surroundings_);
    if (!before.is_whole())
      throw CommandError(
          fmt::format("image: on the locked image, where the cluster is as it was: {}",
                      before.no_all_reduce.empty() ? before.no_training : before.no_all_reduce));
    require_idle(kubernetes_, old_);
    try {
      return move(before);
    } catch (...) {
      if (const std::string words = go_back(); !words.empty()) surroundings_.say(words);
      throw;
    }
  }

 private:
  Decision move(const Measured& before) {
    eks::set_ray_image(kubernetes_, new_, surroundings_, "The cluster goes back to the locked image");
    const Measured after = measure(kubernetes_, new_, update_.after, "after", update_.measure, surroundings_);
    Decision decision{.rows = compare(before, after, update_.allowance),
                      .evidence = {update_.allowance, before.figures, after.figures},
                      .is_network_refused = after.is_network_refused};
    decision.is_accepted = holds(decision.rows);
    if (decision.is_accepted) {
      ImageLock lock = update_.after;
      lock.accepted = decision.evidence;
      lock.save(update_.lock_path);
    } else {
      decision.not_back = go_back();
    }
    return decision;
  }

  // Never throws: says why the cluster may not be on the locked image, or "".
  std::string go_back() noexcept {
    try {
      surroundings_.say(
          fmt::format("back to the locked image; Ctrl-C leaves that to `{}`", update_.way_back));
      eks::set_ray_image(kubernetes_, old_, surroundings_, fmt::format("`{}` does it", update_.way_back));
      return "";
    } catch (const std::exception& error) {
      return fmt::format("the cluster may still run {} ({}): `{}` brings it to the locked image",
                         update_.after.image, error.what(), update_.way_back);
    }
  }

  const Update& update_;
  const eks::Surroundings& surroundings_;
  const eks::Deployment old_, new_;
  eks::Kubernetes kubernetes_;
};

}  // namespace

eks::ClusterSettings settings_with(const eks::ClusterSettings& settings, const ImageLock& lock) {
  eks::ClusterSettings changed = settings;
  changed.image.reference = lock.image;
  if (const auto ray = lock.components.find("ray"); ray != lock.components.end() && !ray->second.empty())
    changed.image.ray_version = ray->second;
  return changed;
}

void require_update_possible(eks::Kubernetes& kubernetes, const Update& update) {
  const std::string locked = ImageReference::parse(update.before.image).name(),
                    settings = ImageReference::parse(update.settings.image.reference).name();
  if (locked != settings)
    throw ConfigError(
        fmt::format("image: {} locks an image of {}, and the cluster's image.reference is of {}",
                    update.lock_path, locked, settings));
  require_locked(kubernetes, update);
  require_idle(kubernetes, deployment_of(update, update.before));
}

Decision accept_update(const Update& update, const eks::Surroundings& surroundings) {
  return Acceptor(update, surroundings).decide();
}

void require_accepted(const Update& update, const Decision& decision) {
  if (decision.is_accepted) return;
  std::vector<std::string> reasons;
  for (const auto& row : decision.rows) {
    if (!row.holds())
      reasons.push_back(
          fmt::format("{}: {} (before {}, after {})", row.what, row.why_not, row.before, row.after));
  }
  const std::string words =
      fmt::format("image: {} is not accepted: {}", update.after.image, fmt::join(reasons, "; "));
  if (!decision.not_back.empty()) throw CommandError(fmt::format("{}. {}", words, decision.not_back));
  const std::string end = words + ". The cluster runs the locked image again, and the lock is as it was";
  if (decision.is_network_refused) throw TransportError(end);
  throw GuardError(end);
}

Json to_json(const Decision& decision) {
  return {{"accepted", decision.is_accepted},
          {"comparison", to_json(decision.rows)},
          {"evidence", decision.evidence.to_json()}};
}

std::string settings_to_change(const Update& update, const std::string& cluster_file) {
  const eks::ImageSettings &former = update.settings.image,
                           now = settings_with(update.settings, update.after).image;
  std::string text;
  if (former.is_pinned())
    text += fmt::format("{} still names the former one: image.reference is now {}\n", cluster_file,
                        now.reference);
  if (former.ray_version != now.ray_version)
    text += fmt::format("{} still names the former Ray: image.ray_version is now \"{}\"\n", cluster_file,
                        now.ray_version);
  return text;
}

void go_back(const Update& update, const eks::Surroundings& surroundings) {
  const eks::Deployment deployment = deployment_of(update, update.before);
  eks::Kubernetes kubernetes(surroundings.runner, deployment);
  require_idle(kubernetes, deployment);
  eks::set_ray_image(kubernetes, deployment, surroundings, fmt::format("`{}` goes on", update.way_back));
}

std::string plan_text(const Update& update) {
  const eks::ClusterSettings& settings = update.settings;
  return fmt::format(
      "accepting it takes the cluster {0} in {1} for itself:\n"
      "  1. on the locked image, as it runs: cluster doctor, an all-reduce of {2}, {3} steps of {4}\n"
      "  2. RayCluster {5}/{6} gets the new image, and all its pods are replaced\n"
      "  3. the same on the new image\n"
      "  4. where all holds, {7} is replaced; else the pods are once more, by ones of the locked image\n"
      "measuring takes a few minutes each time, beside the {3} steps; replacing the pods as long as the\n"
      "image takes to come, {8} minutes at most\n",
      settings.name, settings.region, format_bytes(update.measure.all_reduce_bytes), kSteps,
      update.measure.recipe_path, settings.namespace_name, settings.ray_cluster, update.lock_path,
      eks::kRayLimit.count());
}

std::vector<std::string> planned_commands(eks::Kubernetes& kubernetes, const Update& update,
                                          const std::string& cluster_file) {
  std::vector<std::string> commands;
  const auto add_measuring = [&](const std::string& side) {
    const auto submit = [&](const std::vector<std::string>& keys, const std::vector<std::string>& more) {
      Command command{.argv = {"lockstep", "cluster", "submit", update.measure.recipe_path}};
      command.argv.insert(command.argv.end(), keys.begin(), keys.end());
      command.argv.insert(command.argv.end(), {"--cluster", cluster_file});
      command.argv.insert(command.argv.end(), more.begin(), more.end());
      commands.push_back(command_line(command));
    };
    commands.push_back(command_line({.argv = {"lockstep", "cluster", "doctor", cluster_file}}));
    submit(all_reduce_keys(update.measure, update.settings, side), {"--program", "all_reduce"});
    submit(training_keys(update.measure, update.settings, side), {});
  };
  add_measuring("before");
  for (std::string& line : eks::ray_image_commands(kubernetes, deployment_of(update, update.after)))
    commands.push_back(std::move(line));
  add_measuring("after");
  return commands;
}

}  // namespace lockstep::cluster::accept
