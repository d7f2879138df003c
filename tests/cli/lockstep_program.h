// Runs the real `lockstep` program.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cli {

struct Finished {
  int exit_code;
  std::string out, err;
};

// With these arguments, in the source folder; `environment` on top of the test's own.
Finished lockstep(const std::vector<std::string>& arguments);

// Any command line, through `bash -c`, in the source folder, with `lockstep` in the PATH.
Finished shell(const std::string& command);

}  // namespace lockstep::cli
