// A text's parts between separators: "a,,b" by ',' is "a", "", "b".
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Without the empty part after a last separator; none of an empty text.
std::vector<std::string> split(const std::string& text, char separator);

}  // namespace lockstep
