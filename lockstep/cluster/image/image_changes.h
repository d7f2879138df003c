// What moved between a lock and what its tag is now.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/image/image_lock.h"

namespace lockstep::cluster {

struct ImageChange {
  std::string what;           // "image", "cuda"
  std::string before, after;  // "not stated" where a version is not
};

// The image's digest first, when it was built, then components; empty when the digest is the same.
std::vector<ImageChange> image_changes(const ImageLock& before, const ImageLock& after);

// A line each, in columns; without the last newline.
std::string image_changes_text(const std::vector<ImageChange>& changes);

}  // namespace lockstep::cluster
