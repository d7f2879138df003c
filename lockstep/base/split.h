// A text in parts, and without the blanks around it.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Between separators: "a,,b" by ',' is "a", "", "b". Without the empty part after a last separator; none of
// an empty text.
std::vector<std::string> split(const std::string& text, char separator);
// Without spaces, tabs and ends of lines before and behind.
std::string trimmed(const std::string& text);

}  // namespace lockstep
