// lockstep completion bash|zsh|fish
#include <iostream>
#include <string>

#include "lockstep/base/recipe_keys.h"
#include "lockstep/cli/commands.h"
#include "lockstep/cli/completion_script.h"
#include "lockstep/cluster/eks/settings_keys.h"

namespace lockstep::cli {
namespace {

// As an override on the command line spells them.
CompletionKeys all_keys() {
  return {{"KEY=VALUE", paths_of(recipe_keys())}, {"SETTING=VALUE", paths_of(cluster::eks::cluster_keys())}};
}

}  // namespace

void add_completion(CLI::App& root, Action& action) {
  CLI::App* completion =
      root.add_subcommand("completion", "Print a script that lets the shell complete commands");
  completion->require_subcommand(0, 1);
  completion->footer(
      "It knows the commands, their options, and the keys of recipes and clusters.\n\n"
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
        std::cout << script(command_tree(root, all_keys()));
        return 0;
      };
    });
  }
}

}  // namespace lockstep::cli
