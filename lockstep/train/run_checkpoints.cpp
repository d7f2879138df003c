#include "lockstep/train/run_checkpoints.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "lockstep/base/byte_size.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/checkpoint/damaged.h"
#include "lockstep/checkpoint/names.h"
#include "lockstep/comm/exchange_text.h"
#include "lockstep/storage/retrying_store.h"
#include "lockstep/train/checkpoint_place.h"
#include "lockstep/train/load_state.h"
#include "lockstep/train/run_identity.h"
#include "lockstep/train/together.h"

namespace lockstep::train {
namespace {

using checkpoint::Manifest;

// Whether both name one folder, or one place in an object store.
bool same_place(const std::string& a, const std::string& b) {
  std::error_code not_folders;
  return a == b || std::filesystem::equivalent(a, b, not_folders);
}

IoError none_is_whole(const std::string& location, const std::string& problems) {
  return IoError(
      fmt::format("checkpoint: none of the checkpoints in {} is whole: {}. Bring one back, or begin anew "
                  "with another run.dir",
                  location, problems));
}

}  // namespace

RunCheckpoints::RunCheckpoints(const Recipe& recipe, Engine& engine, Reporter& reporter, int generation,
                               std::string from, Json identity)
    : recipe_(recipe),
      engine_(engine),
      reporter_(reporter),
      generation_(generation),
      from_(std::move(from)),
      identity_(std::move(identity)),
      location_(checkpoint_location(recipe, reporter.run().path())),
      store_(storage::open_retrying_store(location_)) {}

void RunCheckpoints::check_storage(int64_t state_bytes) {
  comm::Mesh& mesh = engine_.mesh();
  const storage::Key key = fmt::format("storage-check/g{:03}", generation_);
  const std::string token = from_rank_0(mesh, engine_.device(), [&] {
    const auto room = store_->free_bytes();
    if (room && *room < 2 * state_bytes) {
      throw IoError(fmt::format(
          "checkpoint: {} has {} left; two checkpoints take {}, as one is removed only after the "
          "next is whole. Free some space, or choose another disk with checkpoint.storage or run.dir",
          location_, format_bytes(*room), format_bytes(2 * state_bytes)));
    }
    const std::string made = checkpoint::make_token();
    store_->put(key, storage::as_bytes(made));
    return made;
  });
  const auto failures = failures_of(mesh, engine_.device(), [&] {
    const auto seen = store_->get(key);
    if (!seen || storage::as_text(*seen) != token) {
      throw IoError(
          fmt::format("checkpoint: rank {} does not see in {} what rank 0 wrote there: the ranks of a run "
                      "share one storage. Mount it on every machine, or set checkpoint.storage",
                      mesh.rank(), location_));
    }
  });
  from_rank_0(mesh, engine_.device(), [&] {
    store_->remove(key);
    return "";
  });
  throw_first(failures);
}

std::optional<Restored> RunCheckpoints::restore(TrainingState& state) {
  comm::Mesh& mesh = engine_.mesh();
  const bool is_path = !from_.empty() && from_ != "latest" && from_ != "best";
  const bool is_other_run = is_path && !same_place(place_of(from_).run, reporter_.run().path());
  std::unique_ptr<storage::ObjectStore> other_store;
  if (is_other_run) other_store = open_checkpoint_store(place_of(from_).run);
  storage::ObjectStore& source = is_other_run ? *other_store : *store_;
  std::vector<Manifest> wanted;
  from_rank_0(mesh, engine_.device(), [&] {
    wanted = candidates(source);
    return "";
  });
  const auto loaded = load_first_whole(source, wanted, state);

  const std::string token = from_rank_0(mesh, engine_.device(), [&] {
    checkpoint::Claim claim{generation_, checkpoint::make_token(), std::nullopt, ""};
    if (loaded && !is_other_run) {
      claim.continues = loaded->id;
      claim.continues_token = loaded->token;
    }
    const checkpoint::RetentionRule rule{recipe_.checkpoint.keep_last, recipe_.checkpoint.keep_every,
                                         recipe_.checkpoint.keep_best};
    committer_ = std::make_unique<checkpoint::Committer>(*store_, claim, rule);
    return claim.token;
  });
  saver_ = std::make_unique<CheckpointSaver>(mesh, engine_.device(), *store_, reporter_, state,
                                             committer_.get(), generation_, token, identity_);
  if (!loaded) return std::nullopt;
  reporter_.event("restored", {{"step", loaded->id.step},
                               {"folder", checkpoint::folder_name(loaded->id)},
                               {"from", is_other_run ? from_ : location_},
                               {"ranks", loaded->world_size}});
  return Restored{loaded->id.step, loaded->state, loaded->metrics};
}

void RunCheckpoints::report_damage(const checkpoint::CheckpointId& id, const std::string& reason) const {
  const std::string folder = checkpoint::folder_name(id);
  if (engine_.mesh().rank() == 0) log::warning("checkpoint: {} cannot be used: {}", folder, reason);
  reporter_.event("checkpoint_damaged", {{"folder", folder}, {"reason", reason}});
}

// In the order in which they shall be tried.
std::vector<Manifest> RunCheckpoints::candidates(storage::ObjectStore& store) const {
  if (const auto id = from_.empty() ? std::nullopt : place_of(from_).id) {
    auto manifest = checkpoint::read_manifest(store, *id);
    if (!manifest) throw ConfigError(fmt::format("--from {}: there is no committed checkpoint", from_));
    return {*std::move(manifest)};
  }
  checkpoint::Survey found = checkpoint::survey(store);
  for (const auto& damaged : found.damaged) report_damage(damaged.id, damaged.reason);
  std::vector<Manifest> manifests = std::move(found.committed);
  if (from_ == "best") {
    std::erase_if(manifests, [](const Manifest& manifest) { return !manifest.held_out_loss(); });
    std::stable_sort(manifests.begin(), manifests.end(), [](const Manifest& a, const Manifest& b) {
      return *a.held_out_loss() < *b.held_out_loss();
    });
    if (manifests.empty()) {
      throw ConfigError(
          fmt::format("--from best: no checkpoint in {} has a held-out loss; set data.held_out and "
                      "evaluation.interval_steps, or use --from latest",
                      location_));
    }
  }
  if (manifests.empty() && !from_.empty()) {
    throw ConfigError(fmt::format("--from {}: there is no checkpoint that could be used", from_));
  }
  if (manifests.empty() && !found.damaged.empty()) {
    throw none_is_whole(location_, found.damaged.front().reason);
  }
  return manifests;
}

// Rank 0 goes through `candidates` (others pass none); what is damaged for one rank is so for all.
std::optional<Manifest> RunCheckpoints::load_first_whole(storage::ObjectStore& store,
                                                         const std::vector<Manifest>& candidates,
                                                         TrainingState& state) {
  comm::Mesh& mesh = engine_.mesh();
  std::string problems;
  for (size_t i = 0;; ++i) {
    const std::string bytes = comm::broadcast_text(
        mesh.world(), i < candidates.size() ? checkpoint::to_bytes(candidates[i]) : "", 0, engine_.device());
    if (bytes.empty()) break;
    const Manifest manifest =
        checkpoint::parse_manifest(storage::as_bytes(bytes), "the manifest sent by rank 0");
    if (const auto changed = differences(manifest.identity, identity_); !changed.empty()) {
      throw ConfigError(
          fmt::format("checkpoint: {} was saved by another training: {}. Put that back, or begin anew with "
                      "another run.dir",
                      checkpoint::folder_name(manifest.id), fmt::join(changed, "; ")));
    }
    std::string damage;  // of this rank
    together(mesh, engine_.device(), [&] {
      try {
        load_state(store, manifest, state);
      } catch (const checkpoint::DamagedError& error) {
        damage = error.what();
      }
    });
    std::string words;
    for (const std::string& rank_words : comm::all_gather_text(mesh.world(), damage, engine_.device())) {
      if (words.empty()) words = rank_words;
    }
    if (words.empty()) return manifest;
    report_damage(manifest.id, words);
    problems += fmt::format("{}{}", problems.empty() ? "" : "; ", words);
  }
  if (!problems.empty()) throw none_is_whole(location_, problems);
  return std::nullopt;
}

}  // namespace lockstep::train
