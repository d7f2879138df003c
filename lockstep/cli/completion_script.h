// Completion scripts for shells, made from the tree of commands itself, so that they know
// every command and option there is.
#pragma once

#include <CLI/App.hpp>
#include <map>
#include <string>
#include <vector>

namespace lockstep::cli {

struct CompletionWord {
  std::string word;         // a command, "--option", or "some.key="
  std::string description;  // one line; empty for keys
};

// A place in the tree and what may follow there.
struct CompletionNode {
  std::string path;  // "lockstep recipe check"
  std::vector<CompletionWord> words;
  bool takes_files = false;
};

// What may stand before the "=" of an argument, by the argument's name: "KEY=VALUE", the recipe's keys.
using CompletionKeys = std::map<std::string, std::vector<std::string>>;

// All places, the root first. Commands with arguments take files; those with arguments of these names take
// their keys too.
std::vector<CompletionNode> command_tree(const CLI::App& root, const CompletionKeys& keys);

using CompletionScript = std::string (*)(const std::vector<CompletionNode>& tree);
std::string bash_completion(const std::vector<CompletionNode>& tree);
std::string zsh_completion(const std::vector<CompletionNode>& tree);
std::string fish_completion(const std::vector<CompletionNode>& tree);

}  // namespace lockstep::cli
