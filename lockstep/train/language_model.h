// What training does with a language model beside its steps: the held-out loss, answers to
// look at, the folder that it is written to.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/data/dataset.h"
#include "lockstep/fsdp/sharded_module.h"
#include "lockstep/models/causal_lm.h"
#include "lockstep/text/tokenizer.h"
#include "lockstep/train/batch.h"

namespace lockstep::train {

// Scalar: the sum over the trained tokens of a micro-batch.
using LossFunction = std::function<at::Tensor(const Batch&)>;

struct HeldOutLoss {
  double loss = 0;  // mean per trained token
  int64_t tokens = 0;
};

// Collective. Every held-out row once, whatever the number of ranks. No gradients.
HeldOutLoss held_out_loss(const std::shared_ptr<const data::Dataset>& dataset, const LossFunction& loss,
                          comm::Mesh& mesh);

// Collective. SHA-256 over all weights in float32 by name; the same on every rank
// (models/weights_hash.h has the rule).
std::string weights_sha256(fsdp::ShardedModule& model);

struct Answer {
  std::string prompt, text;
};

class LanguageModel {
 public:
  // `tokenizer` may be null: then there are no prompts to answer.
  LanguageModel(models::CausalLM module, std::shared_ptr<fsdp::ShardedModule> state, const Recipe& recipe,
                const text::Tokenizer* tokenizer);

  // Collective. Greedy answers to recipe.evaluation.prompts, as user messages when the
  // tokenizer has a chat template.
  std::vector<Answer> answer_prompts();

  // Collective. Writes a Hugging Face folder to `folder` on rank 0, tensor by tensor. What an earlier end
  // of the run left there is replaced.
  void write_folder(const std::string& folder);

 private:
  models::CausalLM module_;
  std::shared_ptr<fsdp::ShardedModule> state_;
  const Recipe& recipe_;
  const text::Tokenizer* tokenizer_;
  std::vector<int64_t> stop_ids_;
};

}  // namespace lockstep::train
