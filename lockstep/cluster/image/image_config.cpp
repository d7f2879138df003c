#include "lockstep/cluster/image/image_config.h"

#include <fmt/format.h>

#include <regex>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/split.h"

namespace lockstep::cluster {
namespace {

// Where versions stand in the images that people train on: NVIDIA's CUDA images, AWS's deep learning
// containers and their samples, Ray's own images. Build arguments have the same names as variables.
struct Source {
  const char* component;
  std::vector<const char*> variables;
  std::vector<const char*> labels;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> all = {
      {"cuda", {"CUDA_VERSION", "NV_CUDA_CUDART_VERSION"}, {"com.nvidia.cuda.version"}},
      {"nccl", {"NCCL_VERSION", "NV_LIBNCCL_PACKAGE_VERSION"}, {"com.nvidia.nccl.version"}},
      {"efa", {"EFA_INSTALLER_VERSION", "EFA_VERSION"}, {}},
      {"aws-ofi-nccl", {"AWS_OFI_NCCL_VERSION", "OFI_NCCL_VERSION"}, {}},
      {"python", {"PYTHON_VERSION"}, {}},
      {"torch", {"PYTORCH_VERSION", "TORCH_VERSION"}, {"com.nvidia.pytorch.version"}},
      {"ray", {"RAY_VERSION"}, {"io.ray.ray-version"}},
  };
  return all;
}

// "13.0.2" of "13.0.2", "v13.0.2-1" and "13.0.2+x"; empty of what does not begin with a number.
std::string first_numbers(const std::string& text) {
  static const std::regex kNumbers(R"(^v?([0-9]+(\.[0-9]+)*))");
  std::smatch match;
  return std::regex_search(text, match, kNumbers) ? match[1].str() : "";
}

std::string value_of(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? "" : first_numbers(found->second);
}

ImageComponent component_of(const Source& source, const ImageConfig& config) {
  for (const char* name : source.labels) {
    const std::string version = value_of(config.labels, name);
    if (!version.empty()) return {source.component, version, fmt::format("label {}", name)};
  }
  // A build argument is what the last steps were given; a variable may be the base image's.
  for (const char* name : source.variables) {
    const std::string version = value_of(config.build_arguments, name);
    if (!version.empty()) return {source.component, version, fmt::format("build argument {}", name)};
  }
  for (const char* name : source.variables) {
    const std::string version = value_of(config.environment, name);
    if (!version.empty()) return {source.component, version, fmt::format("variable {}", name)};
  }
  // AWS's containers name their one framework.
  const auto framework = config.labels.find("framework");
  const std::string version = value_of(config.labels, "framework_version");
  if (framework != config.labels.end() && framework->second == source.component && !version.empty()) {
    return {source.component, version, "label framework_version"};
  }
  return {source.component, "", ""};
}

// Of one step of the history: "RUN |2 A=1 B=2 /bin/sh -c ..." holds two build arguments.
void add_build_arguments(const std::string& created_by, std::map<std::string, std::string>& arguments) {
  static const std::regex kStart(R"((^|\s)\|([0-9]{1,3}) )");
  std::smatch match;
  if (!std::regex_search(created_by, match, kStart)) return;
  size_t left = std::stoul(match[2].str());
  for (const std::string& word : split(match.suffix().str(), ' ')) {
    const size_t equals = word.find('=');
    if (left == 0 || equals == word.npos) break;
    arguments[word.substr(0, equals)] = word.substr(equals + 1);
    --left;
  }
}

std::map<std::string, std::string> texts_of(const Json& object) {
  std::map<std::string, std::string> texts;
  if (!object.is_object()) return texts;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) texts[name] = value.get<std::string>();
  }
  return texts;
}

}  // namespace

ImageConfig ImageConfig::parse(const std::string& text, const std::string& what) {
  try {
    const Json json = Json::parse(text);
    ImageConfig config;
    config.platform =
        fmt::format("{}/{}", json.at("os").get<std::string>(), json.at("architecture").get<std::string>());
    config.created = json.value("created", "");
    const Json inner = json.value("config", Json::object());
    config.labels = texts_of(inner.value("Labels", Json()));
    for (const Json& entry : inner.value("Env", Json::array())) {
      const auto line = entry.get<std::string>();
      const size_t equals = line.find('=');
      if (equals != line.npos) config.environment[line.substr(0, equals)] = line.substr(equals + 1);
    }
    for (const Json& step : json.value("history", Json::array())) {
      add_build_arguments(step.value("created_by", ""), config.build_arguments);
    }
    return config;
  } catch (const Json::exception& error) {
    throw CommandError(fmt::format("image: the config of {} cannot be understood: {}", what, error.what()));
  }
}

std::vector<ImageComponent> ImageConfig::components() const {
  std::vector<ImageComponent> components;
  for (const Source& source : sources()) components.push_back(component_of(source, *this));
  return components;
}

const std::vector<std::string>& component_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Source& source : sources()) all.emplace_back(source.component);
    return all;
  }();
  return names;
}

}  // namespace lockstep::cluster
