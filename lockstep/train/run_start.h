// What a start finds in a run's folder: nothing yet, or a run to continue.
#pragma once

#include <string>

#include "lockstep/base/file_descriptor.h"
#include "lockstep/base/recipe.h"
#include "lockstep/record/run_directory.h"

namespace lockstep::train {

struct RunStart {
  record::RunDirectory run;
  bool is_new = true;   // this start made the folder
  int generation = 1;   // of the workers that are to be started
  FileDescriptor lock;  // while it is open no other start on this storage has the run
};

// Makes run.dir with a copy of the recipe as given, or opens the run that is there. Throws
// ConfigError for a folder that holds something else, a run that is finished, or one that another
// process trains; and IoError. Nothing is left behind by a failure.
RunStart start_run(const std::string& run_dir, const std::string& recipe_path, const Recipe& recipe);

// The number of the next start of the workers of a run that is there, for launchers that are not this
// process: takes no lock. Throws ConfigError when `run` is finished.
int next_generation(const record::RunDirectory& run, const Recipe& recipe);

}  // namespace lockstep::train
