#include "lockstep_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lockstep/base/env_var.h"
#include "lockstep/base/process.h"
#include "lockstep/cli/app.h"
#include "lockstep/launch/report_errors.h"
#include "tests/paths.h"

namespace lockstep::cli {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

Finished lockstep(const std::vector<std::string>& arguments) {
  std::filesystem::current_path(source_path());
  std::vector<const char*> argv = {"lockstep"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int exit_code =
      launch::report_errors([&] { return run(static_cast<int>(argv.size()), argv.data()); });
  return {exit_code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

Finished shell(const std::string& command) {
  std::string folder = (std::filesystem::temp_directory_path() / "lockstep-cli-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  auto process = Process::start(
      {.argv = {"bash", "-c", "cd '" + source_path() + "' && " + command},
       .environment = {{"PATH", build_path("bin") + ":" + env_var("PATH").value_or("/usr/bin:/bin")}},
       .standard_output = Output::file(folder + "/out"),
       .standard_error = Output::file(folder + "/err")});
  const int code = process.wait().shell_code();
  Finished finished{code, read_file(folder + "/out"), read_file(folder + "/err")};
  std::filesystem::remove_all(folder);
  return finished;
}

}  // namespace lockstep::cli
