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

// The held-out loss, or nothing where it was not measured.
std::optional<double> held_out_loss(const Manifest& manifest) {
  const Json loss = manifest.metrics.value("held_out_loss", Json());
  return loss.is_number() ? std::optional(loss.get<double>()) : std::nullopt;
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
    const std::string made = checkpoint::make_token();
    store_->put(key, storage::as_bytes(made));
    const auto room = store_->free_bytes();
    if (room && *room < 2 * state_bytes) {
      throw IoError(
          fmt::format("checkpoint: {} has {} left; two checkpoints take {}, as one is removed only after the "
                      "next is whole. Free "
                      "some space, or choose another disk with checkpoint.storage or run.dir",
                      location_, format_bytes(*room), format_bytes(2 * state_bytes)));
    }
    return made;
  });
  together(mesh, engine_.device(), [&] {
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
}

std::optional<Restored> RunCheckpoints::restore(TrainingState& state) {
  comm::Mesh& mesh = engine_.mesh();
  checkpoint::Survey found;
  std::vector<Manifest> wanted;
  std::unique_ptr<storage::ObjectStore> other_store;
  const bool is_path = !from_.empty() && from_ != "latest" && from_ != "best";
  if (is_path) other_store = open_checkpoint_store(place_of(from_).run);
  storage::ObjectStore& source = is_path ? *other_store : *store_;
  from_rank_0(mesh, engine_.device(), [&] {
    found = checkpoint::survey(*store_);
    wanted = candidates(source, is_path ? checkpoint::survey(source) : found);
    return "";
  });
  const auto loaded = load_first_whole(source, wanted, state);

  checkpoint::Claim claim{generation_, checkpoint::make_token(), std::nullopt, ""};
  const std::string token = from_rank_0(mesh, engine_.device(), [&] {
    if (loaded && !is_path) {
      claim.continues = loaded->id;
      claim.continues_token = loaded->token;
    }
    const checkpoint::RetentionRule rule{recipe_.checkpoint.keep_last, recipe_.checkpoint.keep_every,
                                         recipe_.checkpoint.keep_best};
    committer_ = std::make_unique<checkpoint::Committer>(*store_, claim, found, rule);
    return claim.token;
  });
  saver_ = std::make_unique<CheckpointSaver>(mesh, engine_.device(), *store_, reporter_, state,
                                             committer_.get(), generation_, token, identity_);
  if (!loaded) return std::nullopt;
  reporter_.event("restored", {{"step", loaded->id.step},
                               {"folder", checkpoint::folder_name(loaded->id)},
                               {"from", is_path ? from_ : location_},
                               {"ranks", loaded->world_size}});
  return Restored{loaded->id.step, loaded->state, loaded->metrics};
}

// In the order in which they shall be tried.
std::vector<Manifest> RunCheckpoints::candidates(storage::ObjectStore& store,
                                                 const checkpoint::Survey& found) const {
  for (const auto& damaged : found.damaged) {
    log::warning("checkpoint: {} cannot be used: {}", checkpoint::folder_name(damaged.id), damaged.reason);
    reporter_.event("checkpoint_damaged",
                    {{"folder", checkpoint::folder_name(damaged.id)}, {"reason", damaged.reason}});
  }
  std::vector<Manifest> manifests = found.committed;
  const auto id = from_.empty() ? std::nullopt : place_of(from_).id;
  if (id) {
    auto manifest = checkpoint::read_manifest(store, *id);
    if (!manifest) throw ConfigError(fmt::format("--from {}: there is no committed checkpoint", from_));
    return {*std::move(manifest)};
  }
  if (from_ == "best") {
    std::erase_if(manifests, [](const Manifest& manifest) { return !held_out_loss(manifest); });
    std::stable_sort(manifests.begin(), manifests.end(), [](const Manifest& a, const Manifest& b) {
      return *held_out_loss(a) < *held_out_loss(b);
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
    throw IoError(
        fmt::format("checkpoint: none of the checkpoints in {} is whole; {}. Bring one back, or begin anew "
                    "with another run.dir",
                    location_, found.damaged.front().reason));
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
    if (mesh.rank() == 0) {
      log::warning("checkpoint: {} cannot be used: {}", checkpoint::folder_name(manifest.id), words);
    }
    reporter_.event("checkpoint_damaged",
                    {{"folder", checkpoint::folder_name(manifest.id)}, {"reason", words}});
    problems += fmt::format("{}{}", problems.empty() ? "" : "; ", words);
  }
  if (!problems.empty()) {
    throw IoError(
        fmt::format("checkpoint: none of the checkpoints in {} is whole: {}. Bring one back, or begin anew "
                    "with another run.dir",
                    location_, problems));
  }
  return std::nullopt;
}

}  // namespace lockstep::train
