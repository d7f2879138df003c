// A text in parts: between separators, without the blanks around it, its end.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Between separators: "a,,b" by ',' is "a", "", "b". Without the empty part after a last separator; none of
// an empty text.
std::vector<std::string> split(const std::string& text, char separator);
// Without spaces, tabs and ends of lines before and behind.
std::string trimmed(const std::string& text);
// The last line that is not blank, trimmed: of what a program wrote before it failed, most often why. ""
// where there is none.
std::string last_line(const std::string& text);

}  // namespace lockstep
