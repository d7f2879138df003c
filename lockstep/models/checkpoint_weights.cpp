#include "lockstep/models/checkpoint_weights.h"

#include <ATen/ops/from_blob.h>
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <vector>

#include "lockstep/base/check.h"
#include "lockstep/base/element_bytes.h"
#include "lockstep/base/error.h"
#include "lockstep/models/dtype.h"

namespace lockstep::models {
namespace {

constexpr int64_t kPieceBytes = int64_t{4} << 20;
constexpr const char* kEmbedding = "model.embed_tokens.weight";
constexpr const char* kHead = "lm_head.weight";

[[noreturn]] void refuse_missing(const std::string& name) {
  if (name == kHead) {
    throw ConfigError(
        fmt::format("model: {} is in none of the files, and tie_word_embeddings is false in config.json. Set "
                    "tie_word_embeddings to true if the head is the embedding, or download the missing file",
                    name));
  }
  throw ConfigError(
      fmt::format("model: {} is in none of the files, but config.json asks for it. "
                  "Download the missing file, or take the model's own config.json",
                  name));
}

// The keys of config.json that a parameter's shape comes from.
std::string_view shape_keys(const std::string& name) {
  if (name.find("self_attn") != std::string::npos) {
    return "hidden_size, num_attention_heads, num_key_value_heads or head_dim";
  }
  if (name.find("mlp") != std::string::npos) return "hidden_size or intermediate_size";
  if (name == kEmbedding || name == kHead) return "vocab_size or hidden_size";
  return "hidden_size";
}

bool same_bytes(const SafetensorsReader& reader, const StoredTensor& a, const StoredTensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  std::vector<std::byte> left(kPieceBytes), right(kPieceBytes);
  for (int64_t done = 0; done < a.num_bytes; done += kPieceBytes) {
    const auto count = static_cast<size_t>(std::min(kPieceBytes, a.num_bytes - done));
    reader.read(a, done, std::span(left).first(count));
    reader.read(b, done, std::span(right).first(count));
    if (!std::equal(left.begin(), left.begin() + count, right.begin())) return false;
  }
  return true;
}

}  // namespace

void CheckpointWeights::check_against(const torch::nn::Module& model, const ModelSpec& spec) const {
  std::set<std::string> read_names;
  for (const auto& parameter : model.named_parameters()) {
    const std::string& name = parameter.key();
    if (spec.tie_word_embeddings && name == kHead) continue;
    read_names.insert(name);
    const StoredTensor* stored = reader_.find(name);
    if (stored == nullptr) refuse_missing(name);
    const std::string& file = reader_.file_of(*stored);
    if (stored->shape != parameter.value().sizes().vec()) {
      throw ConfigError(fmt::format(
          "model: {}: {} is {}, but config.json needs {}. Correct {} in config.json, "
          "or take the model's own files",
          file, name, shape_words(stored->shape), shape_words(parameter.value().sizes()), shape_keys(name)));
    }
    if (!scalar_type(stored->dtype)) {
      throw ConfigError(
          fmt::format("model: {}: {} is stored as {}, which is not supported. Save it as F32, F16 or BF16",
                      file, name, stored->dtype));
    }
  }
  for (const StoredTensor& stored : reader_.tensors()) {
    if (read_names.contains(stored.name) || stored.name.ends_with("rotary_emb.inv_freq")) continue;
    const std::string& file = reader_.file_of(stored);
    if (spec.tie_word_embeddings && stored.name == kHead) {
      if (same_bytes(reader_, stored, *reader_.find(kEmbedding))) continue;
      throw ConfigError(
          fmt::format("model: {}: {} differs from {}, but tie_word_embeddings is true in config.json. "
                      "Set it to false to keep the head",
                      file, kHead, kEmbedding));
    }
    throw ConfigError(
        fmt::format("model: {}: {} {} would not be read: config.json describes a {} model of {} "
                    "layers without it. Take the model's own config.json",
                    file, stored.name, shape_words(stored.shape), spec.model_type, spec.num_layers));
  }
}

void CheckpointWeights::read(const std::string& name, int64_t offset, at::Tensor out) {
  const StoredTensor* stored = reader_.find(name);
  LOCKSTEP_CHECK(stored != nullptr) << name << " was checked to be stored";
  const auto dtype = scalar_type(stored->dtype).value();
  const int64_t bytes = element_bytes(stored->dtype);
  const int64_t piece = kPieceBytes / bytes;  // elements
  std::vector<std::byte> buffer(static_cast<size_t>(std::min(piece, out.numel()) * bytes));
  for (int64_t done = 0; done < out.numel(); done += piece) {
    const int64_t count = std::min(piece, out.numel() - done);
    reader_.read(*stored, (offset + done) * bytes,
                 std::span(buffer).first(static_cast<size_t>(count * bytes)));
    out.narrow(0, done, count).copy_(at::from_blob(buffer.data(), {count}, dtype));
  }
}

}  // namespace lockstep::models
