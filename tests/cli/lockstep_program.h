// Runs `lockstep` as a user does, in the source folder.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cli {

struct Finished {
  int exit_code;
  std::string out, err;
};

// What main does with these arguments, in this process: quicker than starting the program.
Finished lockstep(const std::vector<std::string>& arguments);

// Any command line, through `bash -c`, with the real `lockstep` in the PATH.
Finished shell(const std::string& command);

}  // namespace lockstep::cli
