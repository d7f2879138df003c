#include "lockstep/cluster/image/image_changes.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cluster {
namespace {

std::string version_in(const ImageLock& lock, const std::string& name) {
  const auto found = lock.components.find(name);
  return found == lock.components.end() || found->second.empty() ? "not stated" : found->second;
}

}  // namespace

std::vector<ImageChange> image_changes(const ImageLock& before, const ImageLock& after) {
  if (before.image == after.image) return {};
  std::vector<ImageChange> changes = {{"image", before.image, after.image}};
  const auto add = [&](const std::string& what, const std::string& old, const std::string& now) {
    if (old != now) changes.push_back({what, old, now});
  };
  add("platform's image", before.manifest, after.manifest);
  add("built", before.created, after.created);
  for (const std::string& name : component_names())
    add(name, version_in(before, name), version_in(after, name));
  return changes;
}

std::string image_changes_text(const std::vector<ImageChange>& changes) {
  size_t width = 0;
  for (const ImageChange& change : changes) width = std::max(width, change.what.size());
  std::string text;
  for (const ImageChange& change : changes) {
    text += fmt::format("{}{:<{}}  {} -> {}", text.empty() ? "" : "\n", change.what, width, change.before,
                        change.after);
  }
  return text;
}

}  // namespace lockstep::cluster
