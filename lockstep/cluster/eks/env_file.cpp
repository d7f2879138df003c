#include "lockstep/cluster/eks/env_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

#include "lockstep/base/env_var.h"
#include "lockstep/base/error.h"
#include "lockstep/base/nearest.h"
#include "lockstep/base/split.h"
#include "lockstep/cluster/eks/catalogue.h"

namespace lockstep::cluster::eks {
namespace {

struct Assignment {
  std::string value;
  int line = 0;
};

class EnvFile {
 public:
  explicit EnvFile(std::string origin) : origin_(std::move(origin)) {}

  void read(const std::string& text) {
    for (const std::string& line : split(text, '\n')) {
      ++line_;
      read_line(trimmed(line));
    }
  }

  const std::map<std::string, Assignment>& assignments() const { return assignments_; }

  [[noreturn]] void refuse(int line, const std::string& what) const {
    throw ConfigError(fmt::format("{}:{}: {}", origin_, line, what));
  }

 private:
  void read_line(std::string line) {
    if (line.empty() || line.starts_with('#') || is_other_file(line)) return;
    static const std::regex assignment(R"((?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*))");
    std::smatch found;
    if (!std::regex_match(line, found, assignment)) refuse(line_, fmt::format("no assignment: {}", line));
    const std::string name = found[1];
    if (name.starts_with('_')) return;  // the script's own
    assignments_[name] = {value_of(found[2]), line_};
  }

  // `[ -f "$X" ] && source "$X"`, `. ./x`, and the `unset` after it.
  static bool is_other_file(const std::string& line) {
    static const std::regex pattern(R"((\[ .* \] && )?(source|\.) .*|unset .*)");
    return std::regex_match(line, pattern);
  }

  std::string value_of(const std::string& written) const {
    std::smatch found;
    static const std::regex with_default(R"re("?\$\{([A-Za-z0-9_]+):-(.*)\}"?)re");
    static const std::regex reference(R"re("?\$\{?([A-Za-z0-9_]+)\}?"?)re");
    static const std::regex quoted(R"re(("([^"$`\\]*)"|'([^']*)'|([^"'$`\\\s;&|()]*))\s*(#.*)?)re");
    if (std::regex_match(written, found, with_default)) {
      const std::string outside = env_var(found[1]).value_or("");
      return outside.empty() ? value_of(found[2]) : outside;
    }
    if (std::regex_match(written, found, reference)) {
      const auto above = assignments_.find(found[1]);
      if (above == assignments_.end()) refuse(line_, fmt::format("{} is not set above", found[1].str()));
      return above->second.value;
    }
    if (std::regex_match(written, found, quoted)) return found[2].str() + found[3].str() + found[4].str();
    refuse(line_,
           fmt::format("{} is not a plain value: only text, \"text\", ${{NAME}} and ${{NAME:-text}} are read",
                       written));
  }

  std::string origin_;
  int line_ = 0;
  std::map<std::string, Assignment> assignments_;
};

const EnvVariable& variable_of(const std::string& name, const EnvFile& file, int line) {
  const auto& known = env_variables();
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
  if (found != known.end()) return *found;
  std::vector<std::string> names;
  for (const EnvVariable& one : known) names.push_back(one.name);
  const auto guess = nearest(name, names);
  file.refuse(
      line, fmt::format("unknown variable {}{}", name,
                        guess ? fmt::format(": did you mean {}?", *guess) : " (docs/cluster.md lists them)"));
}

RecipeValue setting(const std::string& key, const std::string& name, const std::string& origin,
                    const Assignment& assignment) {
  YAML::Node node(assignment.value);
  if (key == "gpu_nodes.zones") {
    node = YAML::Node(YAML::NodeType::Sequence);
    node.push_back(assignment.value);
  }
  return {.key = key, .name = name, .origin = origin, .line = assignment.line, .node = node};
}

// What a file says besides and must not contradict.
void check_facts(const EnvFile& file) {
  const auto& assignments = file.assignments();
  const auto family = assignments.find("NODE_AMI_FAMILY");
  if (family != assignments.end() && family->second.value != "AmazonLinux2023")
    file.refuse(family->second.line,
                fmt::format("NODE_AMI_FAMILY must be AmazonLinux2023, got {}", family->second.value));
  const auto type_name = assignments.find("GPU_NODE_TYPE");
  const InstanceType* type =
      find_instance_type(type_name == assignments.end() ? "g6.12xlarge" : type_name->second.value);
  const auto gpus = assignments.find("GPUS_PER_NODE");
  if (gpus != assignments.end() && type != nullptr && gpus->second.value != std::to_string(type->gpus))
    file.refuse(gpus->second.line, fmt::format("GPUS_PER_NODE is {}, and {} has {}", gpus->second.value,
                                               type->name, type->gpus));
}

}  // namespace

const std::vector<EnvVariable>& env_variables() {
  static const std::vector<EnvVariable> variables = {
      {"CLUSTER_NAME", "name", ""},
      {"REGION", "region", ""},
      {"AWS_REGION", "", "region, by REGION"},
      {"AWS_DEFAULT_REGION", "", "region, by REGION"},
      {"K8S_VERSION", "kubernetes_version", ""},
      {"NODE_AMI_FAMILY", "", "always AmazonLinux2023"},
      {"SYSTEM_NODE_TYPE", "system_nodes.type", ""},
      {"SYSTEM_NODE_COUNT", "system_nodes.count", ""},
      {"GPU_NODE_TYPE", "gpu_nodes.type", ""},
      {"GPU_NODE_COUNT", "gpu_nodes.count", ""},
      {"GPUS_PER_NODE", "", "that of gpu_nodes.type"},
      {"GPU_NODEGROUP_NAME", "gpu_nodes.name", ""},
      {"GPU_AZ", "gpu_nodes.zones", ""},
      {"CAPACITY_RESERVATION_ID", "gpu_nodes.reservation", ""},
      {"ASSUME_YES", "", "`lockstep cluster up --yes`"},
      {"DLC_IMAGE", "image.reference", ""},
      {"RAY_VERSION", "image.ray_version", ""},
      {"KUBERAY_VERSION", "charts.kuberay", ""},
      {"NVIDIA_DEVICE_PLUGIN_VERSION", "charts.nvidia_plugin", ""},
      {"EFA_DEVICE_PLUGIN_VERSION", "charts.efa_plugin", ""},
      {"NAMESPACE", "namespace", ""},
      {"RAY_CLUSTER_NAME", "ray_cluster", ""},
      {"MODEL_ID", "", "the recipe's model.source"},
      {"STEPS", "", "the recipe's train.steps"},
      {"SEQ_LEN", "", "the recipe's data.sequence_length"},
      {"BATCH_SIZE", "", "the recipe's train.micro_batch"},
      {"LEARNING_RATE", "", "the recipe's optimizer.lr"},
      {"NUM_WORKERS", "", "the recipe's scaling.num_workers"},
      {"BENCH_STEPS", "", "`lockstep bench transport`"},
      {"BENCH_WARMUP_STEPS", "", "`lockstep bench transport`"},
  };
  return variables;
}

RecipeSettings settings_in_env_file(const std::string& text, const std::string& origin) {
  EnvFile file(origin);
  file.read(text);
  check_facts(file);
  RecipeSettings settings;
  for (const auto& [name, assignment] : file.assignments()) {
    const std::string& key = variable_of(name, file, assignment.line).key;
    // An empty one is what the scripts take for "not set".
    if (!key.empty() && !assignment.value.empty())
      settings.emplace(key, setting(key, name, origin, assignment));
  }
  return settings;
}

}  // namespace lockstep::cluster::eks
