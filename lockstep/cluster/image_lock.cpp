#include "lockstep/cluster/image_lock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::cluster {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw ConfigError(
      fmt::format("doctor: {}: {}. A lock is {{\"version\": 1, \"image\": \"...\", \"libraries\": "
                  "{{\"nccl\": \"2.28.9\"}}}} (docs/commands/doctor.md)",
                  path, what));
}

}  // namespace

const std::vector<std::string>& lockable_libraries() {
  static const std::vector<std::string> names = {"lockstep", "driver", "nccl", "libfabric", "aws-ofi-nccl"};
  return names;
}

ImageLock ImageLock::load(const std::string& path) {
  std::ifstream file(path);
  if (!file) refuse(path, "no such file, or it cannot be read");
  const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) refuse(path, "no JSON object");
  if (json.value("version", Json()) != 1) refuse(path, "\"version\" is not 1");
  ImageLock lock;
  for (const auto& [key, value] : json.items()) {
    if (key == "version") continue;
    if (key == "image" && value.is_string()) {
      lock.image = value.get<std::string>();
    } else if (key == "libraries" && value.is_object()) {
      for (const auto& [name, version] : value.items()) {
        const auto& known = lockable_libraries();
        if (std::find(known.begin(), known.end(), name) == known.end())
          refuse(path, fmt::format("no library \"{}\" is known, but {}", name, fmt::join(known, ", ")));
        if (!version.is_string()) refuse(path, fmt::format("the version of {} is no string", name));
        lock.libraries[name] = version.get<std::string>();
      }
    } else {
      refuse(path, fmt::format("\"{}\" is no key of a lock, or its value is of another kind", key));
    }
  }
  return lock;
}

bool version_matches(const std::string& locked, const std::string& found) {
  return found == locked || found.starts_with(locked + ".");
}

}  // namespace lockstep::cluster
