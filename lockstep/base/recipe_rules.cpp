#include "lockstep/base/recipe_rules.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <filesystem>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

class Complaints {
 public:
  Complaints(const RecipeSettings& settings, const std::string& origin)
      : settings_(settings), origin_(origin) {}

  // Throws "<where `key` is given, or the recipe>: <what>".
  [[noreturn]] void about(const std::string& key, const std::string& what) const {
    const auto found = settings_.find(key);
    throw ConfigError(
        fmt::format("{}: {}", found == settings_.end() ? origin_ : found->second.place(), what));
  }
  std::string place(const std::string& key) const { return settings_.at(key).place(); }

 private:
  const RecipeSettings& settings_;
  const std::string& origin_;
};

void check_data(const DataConfig& data, const Complaints& complaints) {
  if (data.source.empty() && data.sources.empty()) {
    complaints.about("data.sources",
                     "data is missing: give data.sources, a list of files, or data.source: random");
  }
}

void check_length(const TrainConfig& train, const Complaints& complaints) {
  if (train.steps && train.epochs) {
    complaints.about("train.epochs",
                     fmt::format("train.epochs and train.steps ({}) exclude each other: remove "
                                 "one (train.epochs= on the command line does)",
                                 complaints.place("train.steps")));
  }
  if (!train.steps && !train.epochs) {
    complaints.about("train.steps", "nothing says how long to train: give train.steps or train.epochs");
  }
}

void check_batch(const Recipe& recipe, const Complaints& complaints) {
  const int64_t global = recipe.train.global_batch, micro = recipe.train.micro_batch;
  if (global % micro != 0) {
    complaints.about("train.global_batch",
                     fmt::format("train.global_batch must be a multiple of train.micro_batch "
                                 "({}), got {}",
                                 micro, global));
  }
  const auto workers = recipe.scaling.num_workers;
  if (const auto refusal = workers ? elastic_refusal(recipe, *workers) : std::nullopt) {
    complaints.about("scaling.num_workers", *refusal);
  }
  if (workers && global / micro % *workers != 0) {
    complaints.about(
        "train.global_batch",
        fmt::format("train.global_batch must be a multiple of train.micro_batch x scaling.num_workers "
                    "({} x {}), got {}",
                    micro, *workers, global));
  }
}

void check_schedule(const Recipe& recipe, const Complaints& complaints) {
  if (recipe.schedule.min_lr > recipe.optimizer.lr) {
    complaints.about("schedule.min_lr",
                     fmt::format("schedule.min_lr must be at most optimizer.lr ({}), got {}",
                                 recipe.optimizer.lr, recipe.schedule.min_lr));
  }
}

}  // namespace

std::optional<double> held_out_share(const std::string& held_out) {
  double share = 0;
  const auto [stop, error] = std::from_chars(held_out.data(), held_out.data() + held_out.size(), share);
  if (error != std::errc() || stop != held_out.data() + held_out.size()) return std::nullopt;
  return share;
}

void check_together(const Recipe& recipe, const RecipeSettings& settings, const std::string& origin) {
  const Complaints complaints(settings, origin);
  if (recipe.name.empty() && recipe.run.dir.empty()) {
    complaints.about("name", "name is missing: it names the run and its folder, runs/<name>");
  }
  check_data(recipe.data, complaints);
  check_length(recipe.train, complaints);
  check_batch(recipe, complaints);
  check_schedule(recipe, complaints);
}

std::optional<std::string> elastic_refusal(const Recipe& recipe, int64_t num_workers) {
  const int64_t micro_batches = recipe.train.global_batch / recipe.train.micro_batch;
  const auto workers = static_cast<uint64_t>(num_workers);
  if (recipe.determinism != "elastic" || (std::has_single_bit(workers) && num_workers <= micro_batches)) {
    return std::nullopt;
  }
  // The largest power of two that divides a number is its lowest bit.
  const uint64_t most =
      std::bit_floor(std::min(workers, static_cast<uint64_t>(micro_batches & -micro_batches)));
  return fmt::format(
      "determinism: elastic sums the {} micro-batches of a step (train.global_batch / train.micro_batch) in "
      "one tree, which a power of two of workers can share, no more than micro-batches; got {} worker{}. Set "
      "scaling.num_workers={}, or determinism=run",
      micro_batches, num_workers, num_workers == 1 ? "" : "s", most);
}

void check_files(const Recipe& recipe, const RecipeSettings& settings, const std::string& origin) {
  namespace fs = std::filesystem;
  const Complaints complaints(settings, origin);
  std::error_code ignored;  // what cannot be looked at is refused as not there
  const std::string& model = recipe.model.source;
  if (!model.empty() && !fs::is_directory(model, ignored)) {
    complaints.about("model.source",
                     fmt::format("model.source: no folder \"{}\" here; models are read from folders, "
                                 "so download it first (huggingface-cli download {} --local-dir ...)",
                                 model, model));
  }
  for (const DataSourceConfig& source : recipe.data.sources) {
    if (!fs::is_regular_file(source.path, ignored)) {
      complaints.about("data.sources", fmt::format("data.sources: no file \"{}\" here", source.path));
    }
  }
  const std::string& held_out = recipe.data.held_out;
  if (!held_out.empty() && !held_out_share(held_out) && !fs::is_regular_file(held_out, ignored)) {
    complaints.about("data.held_out",
                     fmt::format("data.held_out: no file \"{}\" here, and no share such as 0.05", held_out));
  }
}

}  // namespace lockstep
