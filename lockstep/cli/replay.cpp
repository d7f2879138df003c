// lockstep replay RUN --step N
#include "lockstep/train/replay.h"

#include <fmt/core.h>

#include <iostream>
#include <memory>

#include "lockstep/base/error.h"
#include "lockstep/cli/commands.h"
#include "lockstep/launch/local_launcher.h"

namespace lockstep::cli {
namespace {

int run(const train::ReplayOptions& options, bool json) {
  const train::Replay replay = train::replay(options, launch::own_executable());
  Json values = Json::array();
  for (const auto& value : replay.values) {
    values.push_back({{"name", value.name},
                      {"recorded", value.recorded},
                      {"replayed", value.replayed},
                      {"equal", value.equal}});
  }
  if (json) {
    std::cout << Json{{"step", options.step},
                      {"from_step", replay.from_step},
                      {"equal", replay.equal()},
                      {"values", values}}
                     .dump(2)
              << '\n';
  } else {
    std::cout << fmt::format(
        "step {} again, from {}:\n", options.step,
        replay.from_step == 0 ? "the beginning" : fmt::format("the checkpoint of step {}", replay.from_step));
    for (const auto& value : replay.values) {
      std::cout << fmt::format(
          "  {:<9}  {}  {}\n", value.name, value.equal ? "equal" : "DIFFERS",
          value.equal ? value.recorded.dump()
                      : value.recorded.dump() + " was recorded, " + value.replayed.dump() + " now");
    }
  }
  return replay.equal() ? 0 : static_cast<int>(ExitCode::kGuard);
}

}  // namespace

void add_replay(CLI::App& root, Action& action) {
  CLI::App* command = root.add_subcommand("replay", "Do a step of a run again and compare it bit for bit");
  auto options = std::make_shared<train::ReplayOptions>();
  auto json = std::make_shared<bool>(false);
  command->add_option("RUN", options->run, "The run's folder")->required();
  command->add_option("--step", options->step, "Which optimizer step, from 1")->required();
  command->add_flag("--json", *json, "As JSON instead of lines for people");
  command->footer(
      "Trains from the nearest checkpoint before the step, with the run's recipe and number of workers, in "
      "a\n"
      "temporary folder. Exit code 0 when loss, gradient norm and, where the run has a checkpoint of this "
      "step,\n"
      "every saved bit are equal; 6 when something differs (expected with determinism: none).\n\n"
      "Example:\n  lockstep replay runs/tiny --step 15");
  command->callback([=, &action] { action = [=] { return run(*options, *json); }; });
}

}  // namespace lockstep::cli
