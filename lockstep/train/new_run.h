// The folder of a run that begins.
#pragma once

#include <string>

#include "lockstep/record/run_directory.h"

namespace lockstep::train {

// Makes `run_dir` with a copy of the recipe as given. Throws what RunDirectory::create does, and
// IoError when the recipe cannot be read.
record::RunDirectory make_run(const std::string& run_dir, const std::string& recipe_path);

}  // namespace lockstep::train
