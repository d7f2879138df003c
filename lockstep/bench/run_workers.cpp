#include "lockstep/bench/run_workers.h"

#include <fmt/format.h>

#include <iostream>

#include "lockstep/base/temporary_folder.h"
#include "lockstep/bench/output.h"
#include "lockstep/launch/local_launcher.h"

namespace lockstep::bench {

int run_workers(const std::vector<std::string>& worker_argv, int num_workers) {
  const TemporaryFolder logs;  // which nobody needs once what went wrong was printed
  launch::LaunchOptions launch{.argv = worker_argv};
  for (int rank = 0; rank < num_workers; ++rank)
    launch.log_paths.push_back(logs / fmt::format("rank-{:03}.log", rank));
  launch.on_event = [](const std::string& line) { std::cout << printed_text(line) << std::flush; };
  launch.on_notice = [](const std::string& message) { std::cerr << "lockstep: " << message << std::endl; };
  const launch::LaunchResult result = launch::run_workers(launch);
  if (result.failure) {
    const auto own = result.failure->own_error();
    std::cerr << "lockstep: error: " << (own ? *own : result.failure->describe()) << std::endl;
  }
  return result.exit_code;
}

}  // namespace lockstep::bench
