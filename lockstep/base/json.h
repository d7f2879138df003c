// The one JSON type, in insertion order, so that records read as they were written.
#pragma once

#include <nlohmann/json.hpp>

namespace lockstep {

using Json = nlohmann::ordered_json;

}  // namespace lockstep
