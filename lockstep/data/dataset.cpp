#include "lockstep/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/data/batch_plan.h"
#include "lockstep/data/held_out.h"
#include "lockstep/data/permutation.h"
#include "lockstep/data/random_rows.h"
#include "lockstep/data/sample_reader.h"

namespace lockstep::data {
namespace {

// Rounds of permutation() count epochs; packing takes one that no epoch reaches.
constexpr uint64_t kPackingRound = ~uint64_t{0};

void check_settings(const DataConfig& data) {
  if (data.sequence_length < 2) {
    throw ConfigError(fmt::format("data.sequence_length must be at least 2, got {}", data.sequence_length));
  }
  if (data.packing != "best_fit" && data.packing != "none") {
    throw ConfigError(fmt::format("data.packing: unknown value '{}': use best_fit or none", data.packing));
  }
  if (data.source.empty() && data.sources.empty()) {
    throw ConfigError("data.sources: name at least one file, or set data.source: random");
  }
  if (!data.source.empty() && data.source != "random") {
    throw ConfigError(fmt::format(
        "data.source: unknown value '{}': use random, or name files in data.sources", data.source));
  }
  for (const auto& source : data.sources) {
    if (source.weight != 1.0) {
      throw ConfigError(fmt::format("data.sources: weight {} of {} is not supported yet: only 1 is",
                                    source.weight, source.path));
    }
    const bool is_parquet = source.format.empty() && source.path.ends_with(".parquet");
    if (is_parquet || (!source.format.empty() && source.format != "jsonl")) {
      throw ConfigError(fmt::format("data.sources: format {} of {} is not supported yet: only jsonl is",
                                    is_parquet ? "parquet" : source.format, source.path));
    }
  }
}

// Reads one file's samples to the end of `store`.
JsonlFile load_file(const std::string& path, const SampleReader& reader, int64_t vocab_size,
                    TokenStore& store) {
  return read_jsonl(path, [&](int64_t line, const Json& record) {
    const auto place = record_place(path, line);
    const auto sample = reader.read(record, place);
    for (const auto id : sample.ids) {
      if (id < 0 || id >= vocab_size) {
        throw ConfigError(
            fmt::format("{}: the tokenizer gives token {}, the model's vocab_size is {}: "
                        "tokenizer.json and config.json do not belong together",
                        place, id, vocab_size));
      }
    }
    store.add(sample);
  });
}

struct Split {
  std::vector<int64_t> train, held_out;  // numbers of samples in the store
};

// Samples [0, train_samples) are from data.sources, the rest from a held-out file.
Split split_samples(const TokenStore& store, int64_t train_samples, std::optional<double> share) {
  std::vector<bool> held(store.samples());
  std::fill(held.begin() + train_samples, held.end(), true);
  if (share) {
    std::vector<uint64_t> hashes;
    for (int64_t i = 0; i < store.samples(); ++i) hashes.push_back(store.content_hash(i));
    held = choose_held_out(hashes, *share);
  }
  Split split;
  for (int64_t i = 0; i < store.samples(); ++i) (held[i] ? split.held_out : split.train).push_back(i);
  return split;
}

std::string dropped_reasons(const CutCounts& counts) {
  std::string text;
  for (const auto& [reason, samples] : counts.dropped) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", reason, samples);
  }
  return text;
}

struct PackedSplit {
  std::shared_ptr<const PackedRows> rows;
  SplitSummary summary;
};

// Cuts and packs some samples. Without a seed pieces of one length keep the order of the data.
PackedSplit pack_split(std::shared_ptr<const TokenStore> store, std::span<const int64_t> samples,
                       const char* name, const DataConfig& data, std::optional<uint64_t> seed) {
  const auto overlong = data.shape == "text" ? Overlong::kCut : Overlong::kTruncate;
  auto [pieces, counts] = cut(*store, samples, data.sequence_length, overlong);
  if (pieces.empty()) {
    throw DataError(
        fmt::format("data: none of the {} {} samples has anything to train on ({}). Look at "
                    "data.train_on, data.sequence_length ({}) and the chat template's mask",
                    counts.samples, name, dropped_reasons(counts), data.sequence_length));
  }
  const auto num_pieces = int64_t(pieces.size());
  std::vector<PackedRow> rows;
  if (data.packing == "none") {
    rows = pack_none(num_pieces);
  } else {
    std::vector<int32_t> lengths;
    for (const auto& piece : pieces) lengths.push_back(piece.length);
    std::vector<int64_t> order(num_pieces);
    std::iota(order.begin(), order.end(), 0);
    if (seed) order = permutation(num_pieces, *seed, kPackingRound);
    rows = pack_best_fit(lengths, data.sequence_length, order);
  }
  const auto num_rows = int64_t(rows.size());
  const double positions = double(num_rows) * double(data.sequence_length);
  const double padding_share = 1 - double(counts.tokens) / positions;
  return {std::make_shared<PackedRows>(std::move(store), std::move(pieces), std::move(rows),
                                       data.sequence_length),
          {std::move(counts), num_rows, padding_share}};
}

}  // namespace

std::shared_ptr<const Dataset> Dataset::open(const Recipe& recipe, const text::Tokenizer* tokenizer,
                                             int64_t vocab_size) {
  const DataConfig& data = recipe.data;
  const TrainConfig& train = recipe.train;
  check_settings(data);
  const std::shared_ptr<Dataset> dataset(new Dataset);
  dataset->global_batch_ = train.global_batch;
  dataset->micro_batch_ = train.micro_batch;
  auto& summary = dataset->summary_;
  summary.sequence_length = data.sequence_length;
  summary.global_batch = train.global_batch;

  if (data.source == "random") {
    if (!train.steps) throw ConfigError("train.epochs: random tokens have no epochs: set train.steps");
    dataset->rows_ =
        std::make_shared<RandomRows>(data.sequence_length, vocab_size, train.global_batch, train.seed);
    summary.steps = *train.steps;
    return dataset;
  }

  LOCKSTEP_CHECK(tokenizer != nullptr) << "only random tokens do without a tokenizer";
  const SampleReader reader(data, *tokenizer);
  const auto store = std::make_shared<TokenStore>();
  for (const auto& source : data.sources) {
    summary.files.push_back(load_file(source.path, reader, vocab_size, *store));
  }
  const int64_t train_samples = store->samples();
  const auto held_out = HeldOut::parse(data.held_out);
  if (!held_out.path.empty()) summary.files.push_back(load_file(held_out.path, reader, vocab_size, *store));

  const auto split = split_samples(*store, train_samples, held_out.share);
  auto packed = pack_split(store, split.train, "training", data, train.seed);
  summary.train = packed.summary;
  summary.steps = train.steps
                      ? *train.steps
                      : steps_for_epochs(train.epochs.value(), packed.summary.rows, train.global_batch);
  dataset->rows_ = std::make_shared<ShuffledRows>(packed.rows, train.seed);
  if (!split.held_out.empty()) {
    auto held = pack_split(store, split.held_out, "held-out", data, std::nullopt);
    dataset->held_out_ = held.rows;
    summary.held_out = held.summary;
  }
  return dataset;
}

}  // namespace lockstep::data
