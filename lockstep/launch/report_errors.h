// Where an error becomes an exit code: in `main` of the program and of users' own programs.
#pragma once

#include <functional>

namespace lockstep::launch {

// Runs `body` and returns its exit code. An Error becomes one line on standard error,
// "lockstep: error: ...", and its exit code; memory that cannot be had exit code 4; any other
// exception is our own mistake: "lockstep: internal error: ..." and exit code 1.
int report_errors(const std::function<int()>& body) noexcept;

}  // namespace lockstep::launch
