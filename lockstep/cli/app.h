// The command line as a whole.
#pragma once

namespace lockstep::cli {

// Parses and runs. Returns the exit code; help goes to standard output. Throws ConfigError for a
// command line that is wrong, naming the word and the nearest right one, and what the command
// itself throws.
int run(int argc, const char* const* argv);

}  // namespace lockstep::cli
