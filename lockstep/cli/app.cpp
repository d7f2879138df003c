#include "lockstep/cli/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "lockstep/base/build_info.h"
#include "lockstep/base/error.h"
#include "lockstep/base/nearest.h"
#include "lockstep/cli/commands.h"

namespace lockstep::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto close = nearest(word, known);
  return close ? fmt::format(": did you mean {}?", *close) : "";
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

// CLI11 calls a word that is no command an unexpected argument; this names what was expected.
// Returns the command that the words lead to.
const CLI::App& check_command(const CLI::App& root, int argc, const char* const* argv) {
  const CLI::App* app = &root;
  std::string path = root.get_name();
  for (int i = 1; i < argc && !app->get_subcommands({}).empty(); ++i) {
    const std::string word = argv[i];
    if (word.starts_with('-')) continue;
    const CLI::App* next = find_command(*app, word);
    if (next == nullptr) {
      throw ConfigError(fmt::format("{} has no command \"{}\"{} (see {} --help)", path, word,
                                    did_you_mean(word, command_names(*app)), path));
    }
    app = next;
    path += " " + word;
  }
  return *app;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

int print_help(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  std::cout << command.help(parent == nullptr ? "" : full_name(*parent));
  return 0;
}

[[noreturn]] void refuse(const CLI::ParseError& error, const CLI::App& command, int argc,
                         const char* const* argv) {
  const std::string name = full_name(command);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (word.starts_with("--") && word.size() > 2 && command.get_option_no_throw(word) == nullptr) {
      throw ConfigError(fmt::format("{} has no option {}{} (see {} --help)", name, word,
                                    did_you_mean(word, option_names(command)), name));
    }
  }
  throw ConfigError(fmt::format("{}: {} (see {} --help)", name, error.what(), name));
}

}  // namespace

int run(int argc, const char* const* argv) {
  CLI::App root("Fine-tunes language models, sharded over the GPUs or cores of one machine.", "lockstep");
  root.set_help_flag("-h,--help", "Print this help");
  root.set_version_flag("--version", kVersion, "Print the version (`lockstep version` says more)");
  root.footer(
      "Examples:\n"
      "  lockstep train examples/tiny.yaml                 a first experiment, in seconds\n"
      "  lockstep train recipe.yaml train.steps=50         any key of the recipe, for this run\n"
      "  lockstep recipe check recipe.yaml                 is it right? says where it is not\n"
      "  lockstep transport check run.log                  which network did NCCL really use?\n"
      "  lockstep doctor node                              what here would stop or slow training?\n\n"
      "`lockstep COMMAND --help` says more. Exit codes: docs/exit_codes.md.");
  root.require_subcommand(0, 1);

  Action action;
  add_train(root, action);
  add_submit(root, action);
  add_jobs(root, action);
  add_cluster(root, action);
  add_checkpoints(root, action);
  add_replay(root, action);
  add_recipe(root, action);
  add_transport(root, action);
  add_doctor(root, action);
  add_image(root, action);
  add_bench(root, action);
  add_begin(root, action);
  add_show_events(root, action);
  add_version(root, action);
  add_completion(root, action);

  const CLI::App& command = check_command(root, argc, argv);
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print_help(command);
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what() << '\n';
    return 0;
  } catch (const CLI::ParseError& error) {
    refuse(error, command, argc, argv);
  }
  // A group of commands alone, as in `lockstep` or `lockstep recipe`, is a question about it.
  return action ? action() : print_help(command);
}

}  // namespace lockstep::cli
