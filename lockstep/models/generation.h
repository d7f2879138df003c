// Greedy generation with a key-value cache: enough to look at a model's answers.
#pragma once

#include <functional>
#include <vector>

#include "lockstep/models/causal_lm.h"
#include "lockstep/text/tokenizer.h"

namespace lockstep::models {

// The likeliest next token, again and again, until one of `stop_ids` (not returned), max_new_tokens or the
// model's last position. Every token is one forward through the hooks, so a sharded model works: all ranks
// call together with the same arguments. Ranks whose kernels may round differently pass `agree`, which makes
// one rank's token everyone's; otherwise they could stop at different lengths and wait for each other for
// ever. CHECKs that the prompt is not empty.
std::vector<text::TokenId> generate(CausalLM& model, const std::vector<text::TokenId>& prompt,
                                    int64_t max_new_tokens, const std::vector<int64_t>& stop_ids,
                                    const std::function<int64_t(int64_t)>& agree = nullptr);

}  // namespace lockstep::models
