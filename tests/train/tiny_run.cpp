#include "tests/train/tiny_run.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "lockstep/record/run_directory.h"
#include "tests/paths.h"

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

std::vector<Json> named(const std::vector<Json>& events, const std::string& name) {
  std::vector<Json> found;
  for (const Json& event : events) {
    if (event.at("event") == name) found.push_back(event);
  }
  return found;
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
  options.argv = {build_path("bin/lockstep"),
                  "train",
                  source_path("examples/tiny.yaml"),
                  "run.dir=" + dir(),
                  "model.source=" + source_path("examples/tiny/model"),
                  "data.sources=[{path: " + source_path("examples/tiny/text.jsonl") + "}]"};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.standard_output = Output::file(folder_ / "out");
  options.standard_error = Output::file(folder_ / "err");
  return options;
}

ExitStatus TinyRun::run(const std::vector<std::string>& arguments) { return start(arguments).wait(); }

std::string TinyRun::out() const { return content_of(folder_ / "out"); }
std::string TinyRun::err() const { return content_of(folder_ / "err"); }

std::string TinyRun::log(int rank, int generation) const {
  return content_of(record::RunDirectory::open(dir()).log_path(generation, rank));
}

std::vector<Json> TinyRun::metrics(int generation) const {
  return lines_of(dir() + "/" + record::metrics_key(generation));
}

std::vector<Json> TinyRun::events(const std::string& name, int generation) const {
  return named(lines_of(dir() + "/" + record::events_key(generation)), name);
}

std::vector<Json> TinyRun::driver_events(const std::string& name, int start) const {
  return named(lines_of(dir() + "/" + record::driver_events_key(start)), name);
}

void TinyRun::wait_for_steps(size_t steps, int generation) const {
  for (int i = 0; i < 1200; ++i) {
    if (metrics(generation).size() >= steps) return;
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
