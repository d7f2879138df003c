#include "lockstep/train/new_run.h"

#include <cerrno>
#include <fstream>
#include <sstream>

#include "lockstep/base/io_error.h"

namespace lockstep::train {

record::RunDirectory make_run(const std::string& run_dir, const std::string& recipe_path) {
  std::ifstream file(recipe_path);
  std::ostringstream recipe;
  recipe << file.rdbuf();
  if (!file) throw_io_error("read", recipe_path, errno);
  return record::RunDirectory::create(run_dir, recipe.str());
}

}  // namespace lockstep::train
