#include "launcher_fixture.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "tests/paths.h"

namespace lockstep::launch {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

LauncherTest::LauncherTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-launch-XXXXXX").string();
  folder_ = ::mkdtemp(pattern.data());
}

LauncherTest::~LauncherTest() { std::filesystem::remove_all(folder_); }

LaunchOptions LauncherTest::options(int num_workers, const std::vector<std::string>& commands) const {
  LaunchOptions options{.argv = {build_path("bin/scripted_worker")}, .run_dir = folder_};
  options.argv.insert(options.argv.end(), commands.begin(), commands.end());
  for (int rank = 0; rank < num_workers; ++rank) options.log_paths.push_back(log_path(rank));
  return options;
}

Process LauncherTest::start(int num_workers, const std::vector<std::string>& commands,
                            std::chrono::milliseconds stop_grace) const {
  ProcessOptions process{.argv = {build_path("bin/scripted_launcher"), folder_, std::to_string(num_workers),
                                  std::to_string(stop_grace.count()), build_path("bin/scripted_worker")},
                         .standard_output = Output::file(folder_ / "launcher.log"),
                         .standard_error = Output::with_stdout()};
  process.argv.insert(process.argv.end(), commands.begin(), commands.end());
  return Process::start(process);
}

std::string LauncherTest::log_path(int rank) const {
  return folder_ / ("rank-" + std::to_string(rank) + ".log");
}

std::string LauncherTest::log(int rank) const { return read_file(log_path(rank)); }

std::string LauncherTest::launcher_log() const { return read_file(folder_ / "launcher.log"); }

bool LauncherTest::log_has(int rank, const std::string& line) const {
  return log(rank).find("\n" + line + "\n") != std::string::npos;
}

pid_t LauncherTest::await_pid(int rank, const std::string& word) const {
  pid_t pid = 0;
  await("\"" + word + "\" in the log of rank " + std::to_string(rank), [&] {
    const std::string text = log(rank);
    const size_t begin = text.find("\n" + word + " ");
    if (begin == std::string::npos || text.find('\n', begin + 1) == std::string::npos) return false;
    pid = std::stoi(text.substr(begin + word.size() + 2));
    return true;
  });
  return pid;
}

void LauncherTest::await(const std::string& what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("waited in vain for " + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

bool LauncherTest::is_gone(pid_t pid) { return state(pid) == 0 || state(pid) == 'Z' || state(pid) == 'X'; }

char LauncherTest::state(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = stat.rfind(')');  // the name may hold anything
  return name_end == std::string::npos ? 0 : stat.at(name_end + 2);
}

}  // namespace lockstep::launch
