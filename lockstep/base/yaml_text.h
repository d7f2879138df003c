// JSON values as YAML, for people.
#pragma once

#include <string>

#include "lockstep/base/json.h"

namespace lockstep {

// Block style, lists of plain values in one line, keys in their order. A YAML parser reads
// the same values from it.
std::string yaml_text(const Json& value);

}  // namespace lockstep
