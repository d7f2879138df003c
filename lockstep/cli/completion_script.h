// Completion scripts for shells, made from the tree of commands itself, so that they know
// every command and option there is.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct CompletionWord {
  std::string word;         // a command, "--option", or "recipe.key="
  std::string description;  // one line; empty for keys
};

// A place in the tree and what may follow there.
struct CompletionNode {
  std::string path;  // "lockstep recipe check"
  std::vector<CompletionWord> words;
  bool takes_files = false;
};

// All places, the root first. Commands with arguments take files; those with KEY=VALUE arguments
// take `recipe_keys` too.
std::vector<CompletionNode> command_tree(const CLI::App& root, const std::vector<std::string>& recipe_keys);

using CompletionScript = std::string (*)(const std::vector<CompletionNode>& tree);
std::string bash_completion(const std::vector<CompletionNode>& tree);
std::string zsh_completion(const std::vector<CompletionNode>& tree);
std::string fish_completion(const std::vector<CompletionNode>& tree);

}  // namespace lockstep::cli
