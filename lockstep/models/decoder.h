// The decoder of the Llama family: pre-norm blocks of grouped-query attention with rotary embedding and a
// SiLU-gated MLP (Touvron et al., 2023). Submodules and parameters bear Hugging Face's names, so
// "layers.0.self_attn.q_proj.weight" here is the one in the files.
//
// B rows, T tokens, D width. A DecoderLayer is what fsdp wraps ("DecoderLayer" in sharding.wrap.modules).
#pragma once

#include <vector>

#include "lockstep/models/config.h"
#include "lockstep/models/kv_cache.h"
#include "lockstep/nn/attention.h"
#include "lockstep/nn/layers.h"
#include "lockstep/nn/recorded.h"
#include "lockstep/nn/rotary.h"

namespace lockstep::models {

// What all layers of one forward share.
struct LayerContext {
  nn::RotaryTable rotary;
  nn::AttentionMask mask;
  KeyValueCache* cache = nullptr;  // not owned; null outside generation
  bool norms_again = false;        // norms are not kept for backward (Recompute::kSelective)
};

// What a forward does not keep for backward, which computes it again, to the same bits.
enum class Recompute {
  kNone,       // the activations of gated MLPs alone, beside their gradients (nn/swiglu.h)
  kSelective,  // the norms too: all but attention and the large products
  kBlock,      // all but a layer's input (nn/recompute.h)
};

struct AttentionImpl : nn::Module {
  AttentionImpl(const ModelSpec& spec, int64_t layer, const at::TensorOptions& options);

  // [B, T, D] -> [B, T, D]. `again`: x need not be kept.
  at::Tensor forward(const at::Tensor& x, const LayerContext& context,
                     const std::optional<nn::MadeAgain>& again = std::nullopt);

 private:
  int64_t layer_;
  int64_t head_dim_;
  nn::Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, o_proj_{nullptr};
  nn::RMSNorm q_norm_{nullptr}, k_norm_{nullptr};  // over the channels of each head; empty without qk_norm
};
LOCKSTEP_MODULE(Attention);

// down(silu(gate(x)) * up(x))
struct GatedMLPImpl : nn::Module {
  GatedMLPImpl(const ModelSpec& spec, const at::TensorOptions& options);

  // [B, T, D] -> [B, T, D]. `again`: x need not be kept.
  at::Tensor forward(const at::Tensor& x, const std::optional<nn::MadeAgain>& again = std::nullopt);

 private:
  nn::Linear gate_proj_{nullptr}, up_proj_{nullptr}, down_proj_{nullptr};
};
LOCKSTEP_MODULE(GatedMLP);

// What runs along the layers: hidden states as a sum that the next norm takes, adding and norming in one
// pass over memory.
struct ResidualStream {
  at::Tensor stream;  // [B, T, D]
  at::Tensor branch;  // [B, T, D], not added yet; undefined before the first layer
};

inline void collect_tensors(const ResidualStream& x, std::vector<at::Tensor>& out) {
  nn::collect_tensors(x.stream, out);
  nn::collect_tensors(x.branch, out);
}

struct DecoderLayerImpl : nn::Module {
  DecoderLayerImpl(const ModelSpec& spec, int64_t layer, const at::TensorOptions& options);

  ResidualStream forward(const ResidualStream& x, const LayerContext& context);

 private:
  nn::RMSNorm input_layernorm_{nullptr}, post_attention_layernorm_{nullptr};
  Attention self_attn_{nullptr};
  GatedMLP mlp_{nullptr};
};
LOCKSTEP_MODULE(DecoderLayer);

// Embedding, layers and the last norm: everything but the head.
struct DecoderImpl : nn::Module {
  DecoderImpl(const ModelSpec& spec, const at::TensorOptions& options);

  // tokens, positions: [B, T] int64; document_ids: [B, T] int32 -> hidden states [B, T, D]. Inputs may
  // lie on the CPU whatever the device of the weights.
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& document_ids);
  // The next T tokens of every row after those in `cache`, which may be empty: [B, T] int64 -> [B, T, D].
  // CHECKs that T is 1 unless the cache is empty.
  at::Tensor forward(const at::Tensor& tokens, KeyValueCache& cache);

  void set_recompute(Recompute what) { recompute_ = what; }

  // Layers are recorded where the host would keep the device waiting: training forwards over at most
  // kRecordedTokens tokens, whose rows are one document each, without Recompute::kBlock. Null: never.
  void set_recorder(std::shared_ptr<nn::Recorder> recorder);
  static constexpr int64_t kRecordedTokens = 4096;

  nn::Embedding embed_tokens{nullptr};

 private:
  at::Tensor run_layers(const at::Tensor& x, LayerContext context);
  ResidualStream recorded_layer(size_t index, const ResidualStream& x, const LayerContext& context);
  bool may_record(const at::Tensor& x, const LayerContext& context);

  int64_t head_dim_;
  double rope_theta_;
  Recompute recompute_ = Recompute::kNone;
  std::vector<DecoderLayer> layers_;
  std::shared_ptr<nn::Recorder> recorder_;
  std::vector<nn::RecordedPart> parts_;  // of the layers
  nn::RMSNorm norm_{nullptr};
};
LOCKSTEP_MODULE(Decoder);

}  // namespace lockstep::models
