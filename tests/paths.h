// Where this checkout and its build are. Not in the tests' compile commands, which would then differ in each
// checkout, so that a compiler cache serves them all.
#pragma once

#include <string>

namespace lockstep {

std::string source_path(const std::string& name = "");  // in the checkout
std::string build_path(const std::string& name = "");   // in the folder of the build
std::string test_data(const std::string& name);         // in tests/data

}  // namespace lockstep
