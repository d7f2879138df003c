#include "lockstep_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lockstep/base/process.h"

namespace lockstep::cli {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Finished run(const std::vector<std::string>& argv) {
  std::string folder = (std::filesystem::temp_directory_path() / "lockstep-cli-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const char* path = std::getenv("PATH");
  auto process =
      Process::start({.argv = argv,
                      .environment = {{"PATH", std::string(LOCKSTEP_BINARY_DIR "/bin:") + (path ? path : "")},
                                      {"LOCKSTEP_ROLE", std::nullopt}},
                      .standard_output = Output::file(folder + "/out"),
                      .standard_error = Output::file(folder + "/err")});
  const int code = process.wait().shell_code();
  Finished finished{code, read_file(folder + "/out"), read_file(folder + "/err")};
  std::filesystem::remove_all(folder);
  return finished;
}

}  // namespace

Finished lockstep(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"bash", "-c", "cd \"$0\" && exec lockstep \"$@\"", LOCKSTEP_SOURCE_DIR};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run(argv);
}

Finished shell(const std::string& command) {
  return run({"bash", "-c", "cd '" LOCKSTEP_SOURCE_DIR "' && " + command});
}

}  // namespace lockstep::cli
