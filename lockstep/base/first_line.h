// What of an error's words fits into a sentence: libtorch's carry a C++ backtrace from the second line on.
#pragma once

#include <string>

namespace lockstep {

inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace lockstep
