#include "lockstep/models/generation.h"

#include <ATen/ops/tensor.h>

#include <algorithm>

#include "lockstep/base/check.h"

namespace lockstep::models {

std::vector<text::TokenId> generate(CausalLM& model, const std::vector<text::TokenId>& prompt,
                                    int64_t max_new_tokens, const std::vector<int64_t>& stop_ids,
                                    const std::function<int64_t(int64_t)>& agree) {
  LOCKSTEP_CHECK(!prompt.empty()) << "nothing to continue";
  const auto prompt_tokens = static_cast<int64_t>(prompt.size());
  const int64_t room = std::min(max_new_tokens, model->spec().max_positions - prompt_tokens);
  KeyValueCache cache(model->spec().num_layers, prompt_tokens + std::max<int64_t>(room, 0));
  std::vector<text::TokenId> answer;
  at::Tensor tokens = at::tensor(prompt, at::kLong).unsqueeze(0);
  while (static_cast<int64_t>(answer.size()) < room) {
    int64_t token = model->next_logits(tokens, cache).argmax(-1).item<int64_t>();
    if (agree) token = agree(token);
    if (std::find(stop_ids.begin(), stop_ids.end(), token) != stop_ids.end()) break;
    answer.push_back(static_cast<text::TokenId>(token));
    tokens = at::tensor({token}, at::kLong).unsqueeze(0);
  }
  return answer;
}

}  // namespace lockstep::models
