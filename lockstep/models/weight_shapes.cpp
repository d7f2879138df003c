#include "lockstep/models/weight_shapes.h"

#include <algorithm>

#include "lockstep/models/causal_lm.h"

namespace lockstep::models {

std::vector<WeightShape> weight_shapes(const ModelSpec& spec) {
  const CausalLMImpl described(spec, nullptr);
  std::vector<WeightShape> shapes;
  for (const auto& parameter : described.named_parameters()) {
    if (spec.tie_word_embeddings && parameter.key() == "lm_head.weight") continue;
    shapes.push_back({parameter.key(), parameter.value().sizes().vec()});
  }
  std::sort(shapes.begin(), shapes.end(),
            [](const WeightShape& a, const WeightShape& b) { return a.name < b.name; });
  return shapes;
}

}  // namespace lockstep::models
