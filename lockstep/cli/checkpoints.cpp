// lockstep checkpoints list|verify|show RUN
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/cli/commands.h"
#include "lockstep/train/inspect_checkpoints.h"

namespace lockstep::cli {
namespace {

struct Arguments {
  std::string run;
  std::optional<int64_t> step;
  bool json = false;
};

int list(const Arguments& arguments) {
  const Json rows = train::list_checkpoints(arguments.run);
  std::cout << (arguments.json ? rows.dump(2) + "\n"
                : rows.empty() ? "no checkpoint yet\n"
                               : train::to_table(rows));
  return 0;
}

int verify(const Arguments& arguments) {
  const Json rows = train::verify_checkpoints(arguments.run, arguments.step);
  std::cout << (arguments.json ? rows.dump(2) + "\n" : train::to_table(rows));
  for (const Json& row : rows) {
    if (row.at("status") != "whole") return static_cast<int>(ExitCode::kStorage);
  }
  return 0;
}

int show(const Arguments& arguments) {
  const Json checkpoint = train::show_checkpoint(arguments.run, arguments.step);
  if (arguments.json) {
    std::cout << checkpoint.dump(2) << '\n';
    return 0;
  }
  for (const auto& [key, value] : checkpoint.items()) {
    if (!value.is_structured()) {
      std::cout << key << ": " << (value.is_string() ? value.get<std::string>() : value.dump()) << '\n';
      continue;
    }
    std::cout << key << ":\n";
    for (const auto& [name, inner] : value.items()) {
      std::cout << "  " << (value.is_array() ? "" : name + ": ") << inner.dump() << '\n';
    }
  }
  return 0;
}

CLI::App* add(CLI::App& parent, Action& action, const std::shared_ptr<Arguments>& arguments, const char* name,
              const char* about, int (*run)(const Arguments&)) {
  CLI::App* command = parent.add_subcommand(name, about);
  command->add_option("RUN", arguments->run, "A run's folder, or where its checkpoints are")->required();
  command->add_flag("--json", arguments->json, "As JSON instead of lines for people");
  command->callback([=, &action] { action = [=] { return run(*arguments); }; });
  return command;
}

}  // namespace

void add_checkpoints(CLI::App& root, Action& action) {
  CLI::App* checkpoints =
      root.add_subcommand("checkpoints", "List a run's checkpoints, verify them, or look into one");
  checkpoints->require_subcommand(0, 1);
  checkpoints->footer(
      "`lockstep checkpoints COMMAND --help` says more. The format: docs/checkpoint_format.md.");
  auto arguments = std::make_shared<Arguments>();

  add(*checkpoints, action, arguments, "list", "Every checkpoint in the run's storage, newest first", list)
      ->footer("Reads the manifests alone. Example:\n  lockstep checkpoints list runs/tiny");
  CLI::App* verify_command =
      add(*checkpoints, action, arguments, "verify", "Read every file and compare its SHA-256", verify);
  verify_command->add_option("--step", arguments->step, "Only the checkpoint of this step");
  verify_command->footer(
      "Exit code 0 when all are whole, 7 when one is damaged. Example:\n  lockstep checkpoints verify "
      "runs/tiny");
  CLI::App* show_command = add(*checkpoints, action, arguments, "show", "What a checkpoint holds", show);
  show_command->add_option("--step", arguments->step, "The checkpoint of this step instead of the newest");
  show_command->footer("Example:\n  lockstep checkpoints show runs/tiny --step 200");
}

}  // namespace lockstep::cli
