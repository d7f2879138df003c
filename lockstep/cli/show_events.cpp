// lockstep show-events: events on standard input as progress for people
#include <iostream>
#include <string>

#include "lockstep/cli/commands.h"
#include "lockstep/launch/progress.h"

namespace lockstep::cli {
namespace {

int show_events() {
  launch::Progress progress(launch::ProgressOptions::for_stdout(), std::cout);
  for (std::string line; std::getline(std::cin, line);) progress.show(line);
  return 0;
}

}  // namespace

void add_show_events(CLI::App& root, Action& action) {
  CLI::App* command = root.add_subcommand(
      "show-events", "Show a run's events, read from standard input, as `lockstep train` does");
  command->footer(
      "Reads the lines of `lockstep train --json`, of a run's events/ and metrics/, or of a worker's\n"
      "LOCKSTEP_EVENT_FD (docs/worker_protocol.md).\n\n"
      "Example:\n"
      "  lockstep train examples/tiny.yaml --json | tee events.jsonl | lockstep show-events");
  command->callback([&action] { action = show_events; });
}

}  // namespace lockstep::cli
