// What the commands of `lockstep image` share.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "lockstep/cli/commands.h"
#include "lockstep/cluster/image/image_lock.h"
#include "lockstep/cluster/image/image_reference.h"

namespace lockstep::cli {

// A lock that names its image by digest. Throws ConfigError.
cluster::ImageLock load_with_image(const std::string& path);

// LOCK, the argument.
void add_lock(CLI::App& command, std::string& path);

void add_image_update(CLI::App& image, Action& action);

}  // namespace lockstep::cli
