// Which sources this library was built from.
#pragma once

namespace lockstep {

extern const char* const kVersion;  // "0.1.0"
// The commit, with "-dirty" when files were changed; "unknown" outside of a git checkout.
extern const char* const kCommit;

}  // namespace lockstep
