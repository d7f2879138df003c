// scripted_launcher FOLDER WORKERS STOP_GRACE_MS WORKER_ARGV...: runs the workers with logs in
// FOLDER, prints what the launcher says and ends with its exit code.
#include <cstdio>
#include <string>

#include "lockstep/launch/local_launcher.h"

int main(int argc, char** argv) {
  const std::string folder = argv[1];
  lockstep::launch::LaunchOptions options{.argv = {argv + 4, argv + argc}, .run_dir = folder};
  options.stop_grace = std::chrono::milliseconds(std::stoi(argv[3]));
  for (int rank = 0; rank < std::stoi(argv[2]); ++rank) {
    options.log_paths.push_back(folder + "/rank-" + std::to_string(rank) + ".log");
  }
  options.on_notice = [](const std::string& message) {
    std::fprintf(stderr, "notice: %s\n", message.c_str());
  };
  const auto result = lockstep::launch::run_workers(options);
  if (result.failure) std::fprintf(stderr, "%s\n", result.failure->describe().c_str());
  return result.exit_code;
}
