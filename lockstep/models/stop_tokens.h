// Which tokens end an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/models/config.h"
#include "lockstep/text/tokenizer.h"

namespace lockstep::models {

struct StopTokens {
  // What ends a turn of the chat template, if there is one, then what tokenizer, generation_config.json and
  // config.json call eos; each once.
  std::vector<int64_t> ids;
  // Set when the end of a turn is no eos of the model's own files: such a model, tuned on chat and
  // exported with them, would never stop. One line for the log.
  std::optional<std::string> disagreement;
};

// `folder`: the model's. Throws ConfigError for a generation_config.json that is not JSON.
StopTokens find_stop_tokens(const ModelSpec& spec, const std::string& folder,
                            const text::Tokenizer& tokenizer);

}  // namespace lockstep::models
