#include "lockstep/train/checkpoint_place.h"

#include <fmt/core.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/record/record.h"

namespace lockstep::train {
namespace {

// Options of an object store follow a '?'.
std::string below(const std::string& location, const std::string& name) {
  const size_t options = std::min(location.find('?'), location.size());
  return fmt::format("{}/{}{}", location.substr(0, options), name, location.substr(options));
}

}  // namespace

std::string checkpoint_location(const Recipe& recipe, const std::string& run_dir) {
  return recipe.checkpoint.storage.empty() ? run_dir : below(recipe.checkpoint.storage, recipe.name);
}

std::unique_ptr<storage::ObjectStore> open_checkpoint_store(const std::string& run) {
  auto store = storage::open_store(run);
  if (const auto bytes = store->get(std::string(record::kRecordKey))) {
    const Json record = Json::parse(storage::as_text(*bytes), nullptr, /*allow_exceptions=*/false);
    const Json recipe = record.is_object() ? record.value("recipe", Json::object()) : Json::object();
    const Json storage = recipe.value("/checkpoint/storage"_json_pointer, Json());
    if (storage.is_string()) return storage::open_store(below(storage, recipe.value("name", "")));
    return store;
  }
  if (store->get(std::string(record::kRecipeKey)) ||
      !store->list(std::string(checkpoint::kGenerationsPrefix)).empty()) {
    return store;
  }
  throw ConfigError(fmt::format(
      "checkpoints: {} is not a run's folder; give the folder that 'lockstep train' wrote, such as "
      "runs/<name>",
      run));
}

CheckpointPlace place_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  const auto id = checkpoint::id_of_folder(slash == path.npos ? path : path.substr(slash + 1));
  if (!id) return {path, std::nullopt};
  const size_t parent = slash == path.npos || slash == 0 ? path.npos : path.rfind('/', slash - 1);
  return {parent == path.npos ? "." : path.substr(0, parent), id};
}

}  // namespace lockstep::train
