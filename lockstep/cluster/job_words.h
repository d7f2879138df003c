// What a job had to say.
#pragma once

#include <string>

namespace lockstep::cluster {

// The last error in a job's log, without "lockstep: error: "; its last line where there is none.
std::string last_words(const std::string& log);

}  // namespace lockstep::cluster
