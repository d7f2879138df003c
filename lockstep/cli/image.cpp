// lockstep image lock IMAGE | check LOCK; update has a file of its own
#include "lockstep/cli/image.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/cluster/command_runner.h"
#include "lockstep/cluster/image/resolve_image.h"
#include "lockstep/cluster/image/running_image.h"

namespace lockstep::cli {
namespace {

struct ImageArguments {
  std::string image, lock, output, platform = "linux/amd64";
  std::string context, name_space, selector = "ray.io/cluster";
  bool json = false;
};

// "images/ray.lock.yaml" of "public.ecr.aws/deep-learning-containers/ray:v1.0".
std::string usual_path(const cluster::ImageReference& image) {
  return "images/" + image.repository.substr(image.repository.rfind('/') + 1) + ".lock.yaml";
}

int lock(const ImageArguments& arguments) {
  const auto image = cluster::ImageReference::parse(arguments.image);
  const std::string path = arguments.output.empty() ? usual_path(image) : arguments.output;
  if (std::filesystem::exists(path)) {
    throw ConfigError(
        fmt::format("image: {} is there already: lockstep image update {} shows what has moved since. Remove "
                    "it to lock anew, "
                    "or give another --output",
                    path, path));
  }
  cluster::ProcessRunner runner;
  const cluster::ResolvedImage resolved = cluster::resolve_image(image, arguments.platform, runner);
  const auto lock = cluster::ImageLock::of(resolved, utc_now());
  lock.save(path);
  if (arguments.json) {
    std::cout << Json{{"version", 1}, {"path", path}, {"lock", lock.to_json()}}.dump(2) << '\n';
    return 0;
  }
  std::cout << fmt::format("{}\n{} {}, built {}\n", lock.image, lock.platform,
                           resolved.is_index ? "of its index: " + lock.manifest : "only",
                           lock.created.empty() ? "(not stated)" : lock.created);
  for (const cluster::ImageComponent& component : resolved.components) {
    std::cout << fmt::format("  {:<12}  {}\n", component.name,
                             component.version.empty()
                                 ? "not stated"
                                 : fmt::format("{} ({})", component.version, component.stated_by));
  }
  if (!lock.tag.empty()) {
    std::cout << fmt::format(
        "the tag {} {}\n", lock.tag,
        cluster::is_frozen_tag(lock.tag) ? "should stay as it is" : "may be moved to another image");
  }
  std::cout << "written to " << path << '\n';
  return 0;
}

Json pods_in_cluster(const ImageArguments& arguments) {
  cluster::Command command{
      .argv = {"kubectl", "get", "pods", "--output=json", "--selector=" + arguments.selector},
      .env = {},
      .input = ""};
  if (!arguments.context.empty()) command.argv.push_back("--context=" + arguments.context);
  if (!arguments.name_space.empty()) command.argv.push_back("--namespace=" + arguments.name_space);
  cluster::ProcessRunner runner;
  Json pods = Json::parse(cluster::run_or_throw(runner, command), nullptr, /*allow_exceptions=*/false);
  if (pods.is_discarded())
    throw CommandError(fmt::format("{}: what it printed is no JSON", command_line(command)));
  return pods;
}

int check(const ImageArguments& arguments) {
  const auto lock = load_with_image(arguments.lock);
  const auto images = cluster::running_images(pods_in_cluster(arguments), lock);
  if (images.empty()) {
    throw ConfigError(fmt::format(
        "image: no pod with {} is there: give its --namespace, or another --selector", arguments.selector));
  }
  if (arguments.json) {
    std::cout
        << Json{{"version", 1}, {"image", lock.image}, {"containers", running_images_json(images)}}.dump(2)
        << '\n';
  } else {
    std::cout << running_images_text(images) << '\n';
  }
  for (const cluster::ImageState state : {cluster::ImageState::kOther, cluster::ImageState::kNotStarted}) {
    const auto count =
        std::count_if(images.begin(), images.end(), [&](const auto& image) { return image.state == state; });
    if (count == 0) continue;
    throw GuardError(
        fmt::format("image: {} of {} containers {}", count, images.size(),
                    state == cluster::ImageState::kOther
                        ? "do not run the locked image: apply the manifests again with it, or make a new lock"
                        : "run no image yet that could be compared: check again once they do"));
  }
  return 0;
}

CLI::App* add(CLI::App& parent, Action& action, const std::shared_ptr<ImageArguments>& arguments,
              const char* name, const char* about, int (*run)(const ImageArguments&)) {
  CLI::App* command = parent.add_subcommand(name, about);
  command->add_flag("--json", arguments->json, "As JSON instead of lines for people");
  command->callback([=, &action] { action = [=] { return run(*arguments); }; });
  return command;
}

}  // namespace

cluster::ImageLock load_with_image(const std::string& path) {
  auto lock = cluster::ImageLock::load(path);
  if (lock.image.empty() || cluster::ImageReference::parse(lock.image).digest.empty()) {
    throw ConfigError(fmt::format("lock: {}: its image is {}: it must be REPOSITORY@sha256:...", path,
                                  lock.image.empty() ? "not given" : "\"" + lock.image + "\""));
  }
  return lock;
}

void add_lock(CLI::App& command, std::string& path) {
  command.add_option("LOCK", path, "The lock's file, such as images/ray.lock.yaml")->required();
}

void add_image(CLI::App& root, Action& action) {
  CLI::App* image =
      root.add_subcommand("image", "Lock a container image by digest, and see what drifts from it");
  image->require_subcommand(0, 1);
  image->footer("`lockstep image COMMAND --help` says more.");
  auto arguments = std::make_shared<ImageArguments>();

  CLI::App* lock_command = add(*image, action, arguments, "lock",
                               "Ask the registry what a tag is now, and write that down as a lock", lock);
  lock_command->add_option("IMAGE", arguments->image, "[REGISTRY/]REPOSITORY[:TAG][@sha256:DIGEST]")
      ->required();
  lock_command->add_option("--output", arguments->output, "Where to write (default: images/NAME.lock.yaml)")
      ->type_name("FILE");
  lock_command
      ->add_option("--platform", arguments->platform,
                   "Of an image for several platforms, the one that the nodes have")
      ->capture_default_str();
  lock_command->footer(
      "Logs in as `docker login` did. Example:\n"
      "  lockstep image lock public.ecr.aws/deep-learning-containers/ray:v1.0");

  CLI::App* check_command =
      add(*image, action, arguments, "check", "Compare the images that pods really run with the lock", check);
  add_lock(*check_command, arguments->lock);
  check_command->add_option("-n,--namespace", arguments->name_space, "Of the pods (default: kubectl's)")
      ->type_name("NAME");
  check_command
      ->add_option("--context", arguments->context, "Of kubectl's configuration (default: its current one)")
      ->type_name("NAME");
  check_command->add_option("-l,--selector", arguments->selector, "Which pods")->capture_default_str();
  check_command->footer(
      "Exit code 0 when all run the locked image, 6 when one does not, or runs nothing yet. Example:\n"
      "  lockstep image check images/ray.lock.yaml --namespace ray");

  add_image_update(*image, action);
}

}  // namespace lockstep::cli
