#include "lockstep/cluster/shared_paths.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/base/recipe_rules.h"

namespace lockstep::cluster {
namespace {

void require_absolute(const std::string& key, const std::string& path) {
  if (path.empty() || path.starts_with('/') || path.find("://") != path.npos) return;
  throw ConfigError(fmt::format(
      "{}: \"{}\" is relative, and the cluster's nodes have no folder in common that it could start "
      "from: give the path on their shared storage, such as /fsx/{}",
      key, path, path));
}

}  // namespace

void require_absolute_paths(const Recipe& recipe) {
  require_absolute("run.dir", recipe.run.dir);
  require_absolute("model.source", recipe.model.source);
  for (const DataSourceConfig& source : recipe.data.sources) require_absolute("data.sources", source.path);
  if (!held_out_share(recipe.data.held_out)) require_absolute("data.held_out", recipe.data.held_out);
  require_absolute("checkpoint.storage", recipe.checkpoint.storage);
}

}  // namespace lockstep::cluster
