// The variables that a chat template sees, as Hugging Face transformers passes them.
#pragma once

#include <map>
#include <string>

#include "lockstep/base/json.h"

namespace lockstep::text {

// The messages as templates expect them: a key whose value is null is absent (else templates print
// "None"), and reasoning, which goes by several names, is there under each that templates read.
// Throws DataError unless `messages` is a list of at least one object with a "role".
Json normalized_messages(const Json& messages);

// The JSON object to render with. `tools` is null or a list. Throws DataError for text that is not UTF-8.
std::string chat_context(const Json& messages, const Json& tools, bool add_generation_prompt,
                         const std::map<std::string, std::string>& special_tokens);

}  // namespace lockstep::text
