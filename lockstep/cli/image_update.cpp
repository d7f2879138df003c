// lockstep image update LOCK [--accept | --back]
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "lockstep/base/byte_size.h"
#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/cli/cluster.h"
#include "lockstep/cli/image.h"
#include "lockstep/cli/submission.h"
#include "lockstep/cluster/accept/accept_update.h"
#include "lockstep/cluster/image/image_changes.h"
#include "lockstep/cluster/image/resolve_image.h"
#include "lockstep/cluster/shared_paths.h"

namespace lockstep::cli {
namespace {

using cluster::accept::Decision;
using cluster::accept::Update;

struct UpdateArguments {
  std::string lock, cluster = "cluster.yaml", recipe, package, all_reduce_bytes = "1GiB";
  std::vector<std::string> overrides;
  cluster::Allowance allowance;
  bool accept = false, back = false, yes = false, dry_run = false, json = false;
};

// What the lock's tag is now.
struct Moved {
  cluster::ImageLock before, after;
  std::string tag;  // whole: "registry/repository:tag"
  std::vector<cluster::ImageChange> changes;
};

Moved look(const cluster::ImageLock& before, const std::string& path) {
  if (before.tag.empty()) {
    throw ConfigError(
        fmt::format("image: {} was locked by its digest and follows no tag: nothing can move", path));
  }
  auto image = cluster::ImageReference::parse(before.image);
  image.digest.clear();
  image.tag = before.tag;
  cluster::ProcessRunner runner;
  const auto after =
      cluster::ImageLock::of(cluster::resolve_image(image, before.platform, runner), utc_now());
  return {before, after, image.text(), image_changes(before, after)};
}

Json to_json(const Moved& moved) {
  Json rows = Json::array();
  for (const auto& change : moved.changes) {
    rows.push_back({{"what", change.what}, {"before", change.before}, {"after", change.after}});
  }
  return {{"version", 1}, {"tag", moved.tag}, {"moved", !moved.changes.empty()}, {"changes", rows}};
}

void print(const Moved& moved) {
  if (moved.changes.empty()) {
    std::cout << fmt::format("{} is still the locked image, {}\n", moved.tag, moved.before.image);
  } else {
    std::cout << fmt::format("{} has moved since {}\n{}\n", moved.tag, moved.before.locked,
                             cluster::image_changes_text(moved.changes));
  }
  std::cout << std::flush;
}

void require_allowed_to_move(const Moved& moved) {
  if (moved.changes.empty() || !cluster::is_frozen_tag(moved.before.tag)) return;
  throw GuardError(
      fmt::format("image: {} has moved, though a tag of this form is published once: ask its publisher, and "
                  "keep the locked image until then",
                  moved.tag));
}

std::string way_back(const UpdateArguments& arguments) {
  return cluster::command_line({.argv = {"lockstep", "image", "update", arguments.lock, "--back", "--cluster",
                                         arguments.cluster, "--yes"}});
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Everything that can be wrong with it here is, before the registry or the cluster is asked.
Update update_of(const UpdateArguments& arguments, const cluster::ImageLock& before) {
  if (arguments.recipe.empty())
    throw ConfigError(
        "image update: --accept needs --recipe FILE: a training of yours, of which 20 steps are timed");
  const Recipe recipe = recipe_for_cluster(arguments.recipe, arguments.overrides);
  cluster::require_absolute_paths(recipe);
  if (!recipe.run.dir.starts_with('/'))
    throw ConfigError(fmt::format(
        "image update: run.dir is {}: what is measured is read from a folder that Ray's head sees, such as "
        "/fsx/runs/accept",
        recipe.run.dir));
  const auto folder = cluster::find_package_folder(arguments.package);
  Update update{.lock_path = arguments.lock,
                .before = before,
                .settings = cluster::eks::ClusterSettings::load(arguments.cluster, {}),
                .measure = {.recipe_path = arguments.recipe,
                            .recipe = text_of(arguments.recipe),
                            .overrides = arguments.overrides,
                            .run_dir = recipe.run.dir,
                            .id = new_job_id("accept"),
                            .all_reduce_bytes = parse_bytes(arguments.all_reduce_bytes),
                            .package = cluster::make_job_package({.folder = folder})},
                .allowance = arguments.allowance,
                .way_back = way_back(arguments)};
  for (const char* side : {"before", "after"})
    recipe_for_cluster(arguments.recipe, training_keys(update.measure, update.settings, side));
  return update;
}

void print(const UpdateArguments& arguments, const Moved& moved, const Update& update,
           const Decision& decision) {
  if (arguments.json) {
    Json result = to_json(moved);
    result.update(to_json(decision));
    result["lock"] = decision.is_accepted ? Json(update.lock_path) : Json();
    std::cout << result.dump(2) << std::endl;
    return;
  }
  std::cout << to_text(decision.rows);
  if (decision.is_accepted)
    std::cout << fmt::format("accepted: the cluster runs it, and {} says why\n{}", update.lock_path,
                             settings_to_change(update, arguments.cluster));
  std::cout << std::flush;
}

void print_commands(const Update& update, const UpdateArguments& arguments) {
  ClusterSession session;
  cluster::eks::Kubernetes kubernetes(session.surroundings().runner,
                                      cluster::eks::assumed_deployment(update.settings));
  require_update_possible(kubernetes, update);
  for (const std::string& line : planned_commands(kubernetes, update, arguments.cluster))
    std::cout << line << '\n';
  std::cout << "all_reduce is\n" << all_reduce_program(update.measure) << std::flush;
}

int accept(const UpdateArguments& arguments, const cluster::ImageLock& before) {
  Update update = update_of(arguments, before);
  const Moved moved = look(before, arguments.lock);
  update.after = moved.after;
  if (!arguments.json) print(moved);
  require_allowed_to_move(moved);
  if (moved.changes.empty()) {
    if (arguments.json) std::cout << to_json(moved).dump(2) << std::endl;
    return 0;
  }
  (arguments.json ? std::cerr : std::cout) << plan_text(update) << std::flush;
  if (arguments.dry_run) {
    print_commands(update, arguments);
    return 0;
  }
  if (!arguments.yes)
    throw ConfigError("image update: nothing was changed: --yes does it, --dry-run prints the commands");
  ClusterSession session;
  const Decision decision = accept_update(update, session.surroundings());
  print(arguments, moved, update, decision);
  require_accepted(update, decision);
  return 0;
}

int back(const UpdateArguments& arguments, const cluster::ImageLock& before) {
  const Update update{.lock_path = arguments.lock,
                      .before = before,
                      .settings = cluster::eks::ClusterSettings::load(arguments.cluster, {}),
                      .way_back = way_back(arguments)};
  if (!arguments.yes)
    throw ConfigError(
        fmt::format("image update: nothing was changed: --yes replaces Ray's pods in {} that do not run {}",
                    update.settings.name, before.image));
  ClusterSession session;
  go_back(update, session.surroundings());
  if (arguments.json)
    std::cout << Json{{"version", 1}, {"image", before.image}}.dump(2) << std::endl;
  else
    std::cout << fmt::format("the cluster runs {}", before.image) << std::endl;
  return 0;
}

int update(const UpdateArguments& arguments) {
  const auto before = load_with_image(arguments.lock);
  if (arguments.back) return back(arguments, before);
  if (arguments.accept) return accept(arguments, before);
  const Moved moved = look(before, arguments.lock);
  if (arguments.json)
    std::cout << to_json(moved).dump(2) << '\n';
  else
    print(moved);
  require_allowed_to_move(moved);
  return 0;
}

}  // namespace

void add_image_update(CLI::App& image, Action& action) {
  CLI::App* command = image.add_subcommand(
      "update",
      "Show what the lock's tag is now, and what is new in it; move a cluster to it, with evidence");
  auto arguments = std::make_shared<UpdateArguments>();
  add_lock(*command, arguments->lock);
  CLI::Option* accept = command->add_flag(
      "--accept", arguments->accept,
      "Measure on both images, and keep the new one only where it is as good; replaces the lock then");
  command
      ->add_flag("--back", arguments->back,
                 "Bring the cluster to the locked image: what --accept does where it does not accept")
      ->excludes(accept);
  command->add_option("--cluster", arguments->cluster, "The cluster's settings (default: cluster.yaml)")
      ->type_name("FILE");
  command->add_option("--recipe", arguments->recipe, "The training of which 20 steps are timed")
      ->type_name("FILE")
      ->needs(accept);
  command->add_option("KEY=VALUE", arguments->overrides, "Keys of that recipe to replace")
      ->type_name("")
      ->needs(accept);
  command
      ->add_option("--slower", arguments->allowance.slower_percent,
                   "How much slower all-reduce and steps may be, in percent [5]")
      ->type_name("PERCENT")
      ->check(CLI::NonNegativeNumber)
      ->needs(accept);
  command
      ->add_option("--loss-difference", arguments->allowance.loss_percent,
                   "How far the loss of any step may be from the one before, in percent [2]")
      ->type_name("PERCENT")
      ->check(CLI::NonNegativeNumber)
      ->needs(accept);
  command->add_option("--all-reduce-bytes", arguments->all_reduce_bytes, "The largest all-reduce [1GiB]")
      ->type_name("BYTES")
      ->needs(accept);
  command->add_option("--package", arguments->package, "As of `lockstep submit`")
      ->type_name("FOLDER")
      ->needs(accept);
  CLI::Option* dry_run =
      command->add_flag("--dry-run", arguments->dry_run, "Print the plan and its commands; change nothing")
          ->needs(accept);
  command->add_flag("--yes", arguments->yes, "Do what the plan says; without it nothing is changed")
      ->excludes(dry_run);
  command->add_flag("--json", arguments->json, "As JSON instead of lines for people");
  command->footer(
      "Without --accept and --back it changes nothing: exit code 0 whether the tag moved or not, 6 when one "
      "moved that\nshould stay (vX.Y.Z).\n\n"
      "--accept wants the cluster for itself: cluster doctor, an all-reduce, and 20 steps behind the "
      "transport gate, on\nthe locked image, then on the new one, whose pods take the others' place. Where "
      "it is not as good, and after any\nfailure or Ctrl-C, the cluster goes back and the lock stays. Exit "
      "code 0 when it was accepted or nothing moved, 5\nwhen its network was refused, 6 when something else "
      "does not hold, 2 when a job runs, 8 when a program failed.\n\n"
      "Examples:\n"
      "  lockstep image update images/ray.lock.yaml\n"
      "  lockstep image update images/ray.lock.yaml --accept --recipe recipe.yaml run.dir=/fsx/runs/accept "
      "--yes\n"
      "  lockstep image update images/ray.lock.yaml --back --yes");
  command->callback([=, &action] { action = [=] { return update(*arguments); }; });
}

}  // namespace lockstep::cli
