#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/record/metrics.h"

namespace lockstep::record {
namespace {

constexpr std::string_view kPrefix = "metrics/g", kSuffix = ".jsonl";

std::optional<int> generation_of(std::string_view key) {
  if (!key.starts_with(kPrefix) || !key.ends_with(kSuffix)) return std::nullopt;
  key.remove_prefix(kPrefix.size());
  key.remove_suffix(kSuffix.size());
  int generation = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), generation);
  if (error != std::errc() || end != key.data() + key.size()) return std::nullopt;
  return generation;
}

std::vector<MetricsRow> read_generation(const RunDirectory& run, int generation) {
  const storage::Key key = metrics_key(generation);
  const storage::Bytes bytes = run.store().get(key).value_or(storage::Bytes{});
  std::string_view text = storage::as_text(bytes);
  std::vector<MetricsRow> rows;
  // What follows the last newline was being written when its worker died.
  for (size_t number = 1, end; (end = text.find('\n')) != std::string_view::npos; ++number) {
    Json values = Json::parse(text.substr(0, end), nullptr, /*allow_exceptions=*/false);
    if (!values.is_object() || !values.contains("step") || !values["step"].is_number_integer()) {
      throw IoError(
          fmt::format("cannot read {}/{}: line {} is not a JSON object with a whole 'step'; the file "
                      "was changed or damaged since the run wrote it",
                      run.path(), key, number));
    }
    rows.push_back({generation, std::move(values)});
    text.remove_prefix(end + 1);
  }
  return rows;
}

}  // namespace

std::vector<MetricsRow> read_metrics(const RunDirectory& run) {
  std::vector<int> generations;
  for (const storage::Key& key : run.store().list(std::string(kPrefix))) {
    if (const auto generation = generation_of(key)) generations.push_back(*generation);
  }
  std::sort(generations.rbegin(), generations.rend());

  // From the newest back: a step counts only where no later generation went over it again.
  std::vector<MetricsRow> rows;  // newest first
  int64_t taken_up_at = std::numeric_limits<int64_t>::max();
  for (const int generation : generations) {
    std::vector<MetricsRow> own = read_generation(run, generation);
    std::erase_if(own,
                  [&](const MetricsRow& row) { return row.values["step"].get<int64_t>() >= taken_up_at; });
    if (own.empty()) continue;
    taken_up_at = own.front().values["step"].get<int64_t>();
    rows.insert(rows.begin(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  }
  return rows;
}

}  // namespace lockstep::record
