#include "lockstep/cluster/image/image_lock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/base/recipe_value.h"
#include "lockstep/base/yaml_document.h"
#include "lockstep/base/yaml_text.h"

namespace lockstep::cluster {
namespace {

constexpr const char* kNotStated = "not stated";

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw ConfigError(
      fmt::format("lock: {}: {}. `lockstep image lock` writes one; by hand it is version: 1, image: ..., "
                  "libraries: {{nccl: "
                  "\"2.28.9\"}} (docs/commands/image.md)",
                  path, what));
}

struct TextField {
  const char* key;
  std::string ImageLock::*member;
};
constexpr TextField kTexts[] = {{"image", &ImageLock::image},       {"tag", &ImageLock::tag},
                                {"locked", &ImageLock::locked},     {"platform", &ImageLock::platform},
                                {"manifest", &ImageLock::manifest}, {"config", &ImageLock::config},
                                {"created", &ImageLock::created}};

std::map<std::string, std::string> versions_from(const std::string& path, const std::string& kind,
                                                 const Json& json, const std::vector<std::string>& known) {
  std::map<std::string, std::string> versions;
  for (const auto& [name, version] : json.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse(path, fmt::format("no {} \"{}\" is known, but {}", kind, name, fmt::join(known, ", ")));
    if (!version.is_string())
      refuse(path, fmt::format("the version of {} is no text: put it in quotes", name));
    versions[name] = version.get<std::string>();
  }
  return versions;
}

Acceptance acceptance_from(const std::string& path, const Json& json) {
  try {
    return Acceptance::from_json(json);
  } catch (const Json::exception& error) {
    refuse(path,
           fmt::format("\"accepted\" is not what `lockstep image update --accept` writes: {}", error.what()));
  }
}

Json json_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) refuse(path, "no such file, or it cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const YAML::Node document = parse_yaml(text, "lock: " + path);
  if (!document.IsMap()) refuse(path, "no mapping");
  return RecipeType<Json>::read(
      {.key = "", .name = "it", .origin = "lock: " + path, .line = 1, .node = document});
}

}  // namespace

const std::vector<std::string>& lockable_libraries() {
  static const std::vector<std::string> names = {"lockstep", "driver", "nccl", "libfabric", "aws-ofi-nccl"};
  return names;
}

ImageLock ImageLock::of(const ResolvedImage& image, const std::string& now) {
  ImageLock lock{.image = image.image.text(),
                 .tag = image.image.tag,
                 .locked = now,
                 .platform = image.platform,
                 .manifest = image.manifest,
                 .config = image.config,
                 .created = image.created};
  for (const ImageComponent& component : image.components)
    lock.components[component.name] = component.version;
  return lock;
}

ImageLock ImageLock::load(const std::string& path) {
  const Json json = json_of(path);
  if (json.value("version", Json()) != 1) refuse(path, "\"version\" is not 1");
  ImageLock lock;
  for (const auto& [key, value] : json.items()) {
    const auto text =
        std::find_if(std::begin(kTexts), std::end(kTexts), [&](const TextField& f) { return f.key == key; });
    if (text != std::end(kTexts) && value.is_string()) {
      lock.*text->member = value.get<std::string>();
    } else if (key == "components" && value.is_object()) {
      lock.components = versions_from(path, "component", value, component_names());
      for (auto& [name, version] : lock.components) {
        if (version == kNotStated) version.clear();
      }
    } else if (key == "libraries" && value.is_object()) {
      lock.libraries = versions_from(path, "library", value, lockable_libraries());
    } else if (key == "accepted" && value.is_object()) {
      lock.accepted = acceptance_from(path, value);
    } else if (key != "version") {
      refuse(path, fmt::format("\"{}\" is no key of a lock, or its value is of another kind", key));
    }
  }
  return lock;
}

Json ImageLock::to_json() const {
  Json json = {{"version", 1}};
  for (const auto& [key, member] : kTexts) {
    if (!(this->*member).empty()) json[key] = this->*member;
  }
  for (const std::string& name : component_names()) {
    if (const auto found = components.find(name); found != components.end())
      json["components"][name] = found->second.empty() ? kNotStated : found->second;
  }
  if (!libraries.empty()) json["libraries"] = libraries;
  if (accepted) json["accepted"] = accepted->to_json();
  return json;
}

void ImageLock::save(const std::string& path) const {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).parent_path();
  if (std::error_code error; !folder.empty() && (fs::create_directories(folder, error), error)) {
    throw_io_error("make", folder.string(), error.value());
  }
  const std::string unfinished = path + ".unfinished";
  std::ofstream file(unfinished);
  file << "# Written by `lockstep image`. `lockstep image update` shows what has moved since.\n"
       << yaml_text(to_json());
  file.close();
  if (!file) throw_io_error("write", unfinished, errno);
  if (std::rename(unfinished.c_str(), path.c_str()) != 0) throw_io_error("write", path, errno);
}

bool version_matches(const std::string& locked, const std::string& found) {
  return found == locked || found.starts_with(locked + ".");
}

}  // namespace lockstep::cluster
