#include <fmt/format.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/process.h"
#include "lockstep/base/temporary_folder.h"
#include "lockstep/bench/compare_networks.h"
#include "lockstep/bench/step_times.h"
#include "lockstep/launch/local_launcher.h"

namespace lockstep::bench {
namespace {

// "lockstep: error: ..." as the program's last line says it.
std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string last = "it said nothing";
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

TrainRun train_with(const std::string& recipe, const std::vector<std::string>& overrides, int64_t steps) {
  return [=](const NetworkChoice& network) {
    const TemporaryFolder folder;
    ProcessOptions program{.argv = {launch::own_executable(), "train", recipe},
                           .environment = network.environment,
                           .standard_output = lockstep::Output::discard(),
                           .standard_error = lockstep::Output::file(folder / "errors")};
    program.argv.insert(program.argv.end(), overrides.begin(), overrides.end());
    program.argv.push_back(fmt::format("train.steps={}", steps));
    program.argv.push_back("run.dir=" + (folder / "run"));
    const ExitStatus status = Process::start(program).wait();
    if (!status.success())
      throw CommandError(fmt::format("bench: training over {} ({}) ended with {}: {}", network.name,
                                     network.words(), status.describe(), last_line(folder / "errors")));
    return step_times_of(folder / "run");
  };
}

}  // namespace lockstep::bench
