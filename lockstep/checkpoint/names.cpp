#include "lockstep/checkpoint/names.h"

#include <fmt/core.h>

#include <charconv>

namespace lockstep::checkpoint {
namespace {

// The number that `text` is, in at least `min_digits` digits and without sign.
template <typename T>
std::optional<T> number(std::string_view text, size_t min_digits) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  if (text.size() < min_digits || text.front() == '-') return std::nullopt;
  return value;
}

}  // namespace

std::string folder_name(const CheckpointId& id) {
  return fmt::format("step-{:08}.g{:03}", id.step, id.generation);
}

std::string shard_file(int rank) { return fmt::format("shard-{:05}.safetensors", rank); }

storage::Key file_key(const CheckpointId& id, std::string_view file) {
  return fmt::format("{}{}/{}", kCheckpointsPrefix, folder_name(id), file);
}

storage::Key manifest_key(const CheckpointId& id) { return file_key(id, kManifestFile); }

std::optional<CheckpointId> id_of_folder(std::string_view folder) {
  constexpr std::string_view kStep = "step-", kGeneration = ".g";
  const size_t dot = folder.find(kGeneration);
  if (!folder.starts_with(kStep) || dot == folder.npos) return std::nullopt;
  const auto step = number<int64_t>(folder.substr(kStep.size(), dot - kStep.size()), 8);
  const auto generation = number<int>(folder.substr(dot + kGeneration.size()), 3);
  if (!step || !generation) return std::nullopt;
  return CheckpointId{*step, *generation};
}

std::optional<CheckpointId> id_of_key(std::string_view key) {
  if (!key.starts_with(kCheckpointsPrefix)) return std::nullopt;
  key.remove_prefix(kCheckpointsPrefix.size());
  return id_of_folder(key.substr(0, key.find('/')));
}

}  // namespace lockstep::checkpoint
