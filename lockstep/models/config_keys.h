// Which keys of a config.json change the mathematics of a decoder, and which do not.
#pragma once

#include <string>
#include <string_view>

#include "lockstep/base/json.h"

namespace lockstep::models {

// Throws ConfigError for the first key of `config` that asks for something a Llama-family decoder
// here does not compute (a quantization, experts, another activation, ...). A key at
// its neutral value, such as partial_rotary_factor 1.0 or rope_scaling null, passes.
void refuse_unsupported_keys(const Json& config, const std::string& origin);

// Whether the key is one whose value is read or that says nothing about the forward pass.
bool is_known_key(std::string_view key);

// "model: <origin>: <key> = <value> <why>", thrown as ConfigError.
[[noreturn]] void refuse_key(const std::string& origin, std::string_view key, const Json& value,
                             std::string_view why);

}  // namespace lockstep::models
