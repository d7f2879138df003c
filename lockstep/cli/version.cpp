// lockstep version
#include <fmt/format.h>

#include <iostream>

#include "lockstep/base/build_info.h"
#include "lockstep/cli/commands.h"
#include "lockstep/train/program_facts.h"

namespace lockstep::cli {
namespace {

int version() {
  std::cout << fmt::format("lockstep {} ({})\n", kVersion, kCommit);
  for (const auto& [name, version] : train::program_facts().libraries) {
    if (name != "lockstep") std::cout << fmt::format("  {:<9} {}\n", name, version);
  }
  return 0;
}

}  // namespace

void add_version(CLI::App& root, Action& action) {
  CLI::App* command =
      root.add_subcommand("version", "Print the versions of the program and of what it is built on");
  command->callback([&action] { action = version; });
}

}  // namespace lockstep::cli
