// lockstep completion bash|zsh|fish
#include <iostream>
#include <string>

#include "lockstep/base/recipe.h"
#include "lockstep/cli/commands.h"
#include "lockstep/cli/completion_script.h"

namespace lockstep::cli {
namespace {

// The names of all keys, as an override on the command line spells them.
void collect_keys(const Json& object, const std::string& prefix, std::vector<std::string>& keys) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) {
      collect_keys(value, prefix + name + ".", keys);
    } else {
      keys.push_back(prefix + name);
    }
  }
}

}  // namespace

void add_completion(CLI::App& root, Action& action) {
  CLI::App* completion =
      root.add_subcommand("completion", "Print a script that lets the shell complete commands");
  completion->require_subcommand(0, 1);
  completion->footer(
      "It knows the commands, their options and the recipe's keys.\n\n"
      "Examples:\n"
      "  source <(lockstep completion bash)                                      this shell\n"
      "  lockstep completion bash > ~/.local/share/bash-completion/completions/lockstep\n"
      "  lockstep completion fish > ~/.config/fish/completions/lockstep.fish");
  const std::pair<const char*, CompletionScript> shells[] = {
      {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
  for (const auto& [name, script] : shells) {
    CLI::App* shell = completion->add_subcommand(name, std::string("The script for ") + name);
    shell->callback([&root, &action, script] {
      action = [&root, script] {
        std::vector<std::string> keys;
        collect_keys(Recipe{}.effective(), "", keys);
        std::cout << script(command_tree(root, keys));
        return 0;
      };
    });
  }
}

}  // namespace lockstep::cli
