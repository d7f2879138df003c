// Which folder may include which: the arrows of docs/architecture.md.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Follows every #include "lockstep/X/..." in the sources below `root`/lockstep. Returns a line for
// each that is not an arrow ("lockstep/nn/layer.h:3: nn may not include train"), for each folder
// that the arrows do not know, and for each way around them (a path that leaves its folder).
std::vector<std::string> broken_arrows(const std::string& root);

// A line for each header below `root`/lockstep that includes libtorch's umbrella header, which
// costs every file that includes it 20 seconds.
std::vector<std::string> umbrella_includes(const std::string& root);

}  // namespace lockstep
