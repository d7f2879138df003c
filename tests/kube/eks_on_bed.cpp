#include "eks_on_bed.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "lockstep/base/recipe_value.h"
#include "lockstep/base/yaml_document.h"

namespace lockstep::kube {
namespace {

using cluster::Command;
using cluster::CommandResult;

// What `up` waits a quarter of an hour for, a bed is given two minutes for.
constexpr int kClockSpeed = 8;

Json yaml(const std::string& text) {
  return RecipeType<Json>::read(
      {.key = "", .name = "input", .origin = "input", .node = parse_yaml(text, "input")});
}

bool begins(const Command& command, const std::vector<std::string>& with) {
  return command.argv.size() >= with.size() && std::equal(with.begin(), with.end(), command.argv.begin());
}

std::string option(const Command& command, const std::string& name) {
  const auto found = std::find(command.argv.begin(), command.argv.end(), name);
  return found == command.argv.end() ? "" : *(found + 1);
}

bool is_dry(const Command& command) {
  return std::find(command.argv.begin(), command.argv.end(), "--dry-run") != command.argv.end();
}

}  // namespace

CommandResult EksOnBed::run(const Command& command) {
  if (command.argv[0] == "kubectl") {
    Command real = command;
    real.argv[0] = LOCKSTEP_KUBE_TOOLS "/kubectl";
    cluster::ProcessRunner runner;
    return runner.run(real);
  }
  if (begins(command, {"helm", "show", "crds"})) {
    std::string all;
    for (const auto& file : std::filesystem::directory_iterator(LOCKSTEP_KUBE_TOOLS "/crds"))
      all += read_file(file.path()) + "\n";
    world.kubernetes.objects.insert("CRD");
    return {.out = all};
  }
  CommandResult result = world.run(command);
  if (result.exit_code != 0 || is_dry(command)) return result;
  if (begins(command, {"aws", "eks", "update-kubeconfig"}))
    std::filesystem::copy_file(bed_.kubeconfig(), option(command, "--kubeconfig"),
                               std::filesystem::copy_options::overwrite_existing);
  if (begins(command, {"eksctl", "create", "cluster"}) || begins(command, {"eksctl", "create", "nodegroup"}))
    add_nodes(yaml(command.input));
  if (begins(command, {"helm", "upgrade", "--install"})) install(command.argv[3], yaml(command.input));
  return result;
}

void EksOnBed::add_nodes(const Json& config) {
  for (const Json& group : config.at("managedNodeGroups")) {
    NodeShape shape = group.at("instanceType") == "g6.12xlarge" ? g6_12xlarge() : m7i_xlarge();
    shape.labels = group.at("labels").get<std::map<std::string, std::string>>();
    shape.taints = group.value("taints", Json::array());
    for (int64_t i = 0; i < group.at("desiredCapacity"); ++i)
      bed_.add_node(fmt::format("{}-{}", group.at("name").get<std::string>(), i), shape);
  }
}

void EksOnBed::install(const std::string& chart, const Json& values) {
  if (chart == "kuberay-operator") return;
  const Json labels = {{"app.kubernetes.io/instance", chart}};
  Json pod = values;  // nodeSelector and tolerations
  pod["containers"] = {{{"name", "plugin"}, {"image", "registry.example/plugin"}}};
  const Json set = {{"apiVersion", "apps/v1"},
                    {"kind", "DaemonSet"},
                    {"metadata", {{"name", chart}, {"namespace", "kube-system"}, {"labels", labels}}},
                    {"spec",
                     {{"selector", {{"matchLabels", labels}}},
                      {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod}}}}}};
  bed_.kubectl({"apply", "--validate=strict", "-f", "-"}, set.dump());
}

cluster::eks::Surroundings EksOnBed::surroundings() {
  return {.runner = *this,
          .say = [this](const std::string& line) { said.push_back(line); },
          .pause = [](std::chrono::seconds) { std::this_thread::sleep_for(std::chrono::milliseconds(200)); },
          .now =
              [start = std::chrono::system_clock::now()] {
                return start + kClockSpeed * (std::chrono::system_clock::now() - start);
              }};
}

}  // namespace lockstep::kube
