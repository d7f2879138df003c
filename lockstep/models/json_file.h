// The JSON files of a model folder. They come from anywhere, so nothing in them may do harm.
#pragma once

#include <string>
#include <string_view>

#include "lockstep/base/json.h"

namespace lockstep::models {

// A JSON object. Refuses with ConfigError, naming `origin`: text that is not JSON (with line and column),
// anything but an object, a top-level name that appears twice (of which a reader would silently keep one),
// and nesting deeper than any model file has (32), which recursive code would not survive.
Json parse_json(std::string_view text, const std::string& origin);

// A file's bytes. Throws ConfigError when it cannot be read.
std::string read_text(const std::string& path);

// parse_json of read_text.
Json load_json(const std::string& path);

// `value` on one line, in ASCII and at most 200 bytes: how a message shows what a file said.
std::string json_words(const Json& value);

}  // namespace lockstep::models
