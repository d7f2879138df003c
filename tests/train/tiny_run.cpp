#include "tests/train/tiny_run.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

namespace lockstep::train::testing {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Json> lines_of(const std::filesystem::path& path) {
  std::vector<Json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !file.eof();) lines.push_back(Json::parse(line));
  return lines;
}

// Field 3 of /proc/PID/stat is the state, 4 the parent; the name before them may hold spaces.
std::pair<char, pid_t> state_and_parent(pid_t pid) {
  const std::string stat = content_of("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {'X', 0};
  std::istringstream rest(stat.substr(name_end + 1));
  char state = 'X';
  pid_t parent = 0;
  rest >> state >> parent;
  return {state, parent};
}

}  // namespace

TinyRun::TinyRun() {
  std::string pattern = std::filesystem::temp_directory_path() / "lockstep_tiny_XXXXXX";
  folder_ = mkdtemp(pattern.data());
}

TinyRun::~TinyRun() { std::filesystem::remove_all(folder_); }

ProcessOptions TinyRun::options(const std::vector<std::string>& arguments) const {
  ProcessOptions options;
  options.argv = {LOCKSTEP_BINARY_DIR "/bin/lockstep",
                  "train",
                  LOCKSTEP_SOURCE_DIR "/examples/tiny.yaml",
                  "run.dir=" + dir(),
                  "model.source=" LOCKSTEP_SOURCE_DIR "/examples/tiny/model",
                  "data.sources=[{path: " LOCKSTEP_SOURCE_DIR "/examples/tiny/text.jsonl}]"};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.standard_output = Output::file(folder_ / "out");
  options.standard_error = Output::file(folder_ / "err");
  return options;
}

ExitStatus TinyRun::run(const std::vector<std::string>& arguments) { return start(arguments).wait(); }

std::string TinyRun::out() const { return content_of(folder_ / "out"); }
std::string TinyRun::err() const { return content_of(folder_ / "err"); }

std::vector<Json> TinyRun::metrics() const { return lines_of(dir() + "/metrics/g001.jsonl"); }

std::vector<Json> TinyRun::events(const std::string& name) const {
  std::vector<Json> found;
  for (const Json& event : lines_of(dir() + "/events/g001.jsonl")) {
    if (event.at("event") == name) found.push_back(event);
  }
  return found;
}

void TinyRun::wait_for_steps(size_t steps) const {
  for (int i = 0; i < 1200; ++i) {
    if (metrics().size() >= steps) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  FAIL() << "no " << steps << " steps within a minute: " << err();
}

std::vector<pid_t> workers_of(pid_t driver) {
  std::vector<pid_t> workers;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && state_and_parent(pid).second == driver) workers.push_back(pid);
  }
  std::sort(workers.begin(), workers.end());
  return workers;
}

bool lives(pid_t pid) {
  const char state = state_and_parent(pid).first;
  return state != 'X' && state != 'Z';
}

bool all_gone_within(const std::vector<pid_t>& pids, int seconds) {
  for (int i = 0; i < seconds * 20; ++i) {
    if (std::none_of(pids.begin(), pids.end(), lives)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return std::none_of(pids.begin(), pids.end(), lives);
}

}  // namespace lockstep::train::testing
