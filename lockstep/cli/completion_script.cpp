#include "lockstep/cli/completion_script.h"

#include <fmt/format.h>

namespace lockstep::cli {
namespace {

// For any shell: between single quotes only the quote itself is special.
std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// In zsh's "word:description" a colon of the word's own has a backslash.
std::string zsh_word(const CompletionWord& word) {
  std::string result;
  for (const char c : word.word) result += c == ':' ? std::string("\\:") : std::string(1, c);
  return shell_quoted(word.description.empty() ? result : result + ":" + word.description);
}

// The alternatives of a `case`: every path but the root, which all words start at.
std::string known_paths(const std::vector<CompletionNode>& tree, const std::string& separator) {
  std::string result;
  for (size_t i = 1; i < tree.size(); ++i) result += (i > 1 ? separator : "") + shell_quoted(tree[i].path);
  return result;
}

void visit(const CLI::App& app, const std::string& path, const CompletionKeys& keys,
           std::vector<CompletionNode>& tree) {
  CompletionNode node{path};
  for (const CLI::App* command : app.get_subcommands({})) {
    node.words.push_back({command->get_name(), command->get_description()});
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      node.words.push_back({"--" + name, option->get_description()});
    }
    node.takes_files = node.takes_files || option->get_positional();
  }
  for (const auto& [argument, names] : keys) {
    if (app.get_option_no_throw(argument) == nullptr) continue;
    for (const std::string& name : names) node.words.push_back({name + "=", ""});
  }
  tree.push_back(std::move(node));
  for (const CLI::App* command : app.get_subcommands({})) {
    visit(*command, path + " " + command->get_name(), keys, tree);
  }
}

}  // namespace

std::vector<CompletionNode> command_tree(const CLI::App& root, const CompletionKeys& keys) {
  std::vector<CompletionNode> tree;
  visit(root, root.get_name(), keys, tree);
  return tree;
}

std::string bash_completion(const std::vector<CompletionNode>& tree) {
  std::string cases;
  for (const CompletionNode& node : tree) {
    std::string words;
    for (const CompletionWord& word : node.words) words += (words.empty() ? "" : " ") + word.word;
    cases += fmt::format("    {}) words={} ;;\n", shell_quoted(node.path), shell_quoted(words));
  }
  return fmt::format(R"(# Completion of lockstep for bash: source <(lockstep completion bash)
_lockstep() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} at={0} words= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$at $word" in
      {1}) at+=" $word" ;;
    esac
  done
  case "$at" in
{2}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ ${{COMPREPLY[0]-}} == *= ]]; then compopt -o nospace; fi
}}
# Where no word fits, files are offered: recipes.
complete -o default -F _lockstep {0}
)",
                     tree.at(0).path, known_paths(tree, "|"), cases);
}

std::string zsh_completion(const std::vector<CompletionNode>& tree) {
  std::string cases;
  for (const CompletionNode& node : tree) {
    std::string words, keys;
    for (const CompletionWord& word : node.words) {
      // No space may follow a key's "=".
      (word.word.ends_with('=') ? keys : words) += "\n        " + zsh_word(word);
    }
    cases += fmt::format("    ({})\n      candidates=({})\n      keys=({})\n      files={} ;;\n",
                         shell_quoted(node.path), words, keys, node.takes_files ? 1 : 0);
  }
  return fmt::format(R"(#compdef {0}
# Completion of lockstep for zsh: a file named _lockstep in a folder of $fpath.
_lockstep() {{
  local at={0} word
  local -i files=0
  local -a candidates keys
  for word in ${{words[2,CURRENT-1]}}; do
    case "$at $word" in
      ({1}) at+=" $word" ;;
    esac
  done
  case "$at" in
{2}  esac
  _describe lockstep candidates
  compadd -S '' -a keys
  if (( files )); then _files; fi
}}
_lockstep "$@"
)",
                     tree.at(0).path, known_paths(tree, "|"), cases);
}

std::string fish_completion(const std::vector<CompletionNode>& tree) {
  std::string lines;
  for (const CompletionNode& node : tree) {
    const std::string condition = shell_quoted("__lockstep_at " + node.path);
    for (const CompletionWord& word : node.words) {
      const bool is_option = word.word.starts_with("--");
      lines += fmt::format("complete -c {} -n {} {} {}", tree.at(0).path, condition, is_option ? "-l" : "-a",
                           shell_quoted(is_option ? word.word.substr(2) : word.word));
      lines += word.description.empty() ? "\n" : " -d " + shell_quoted(word.description) + "\n";
    }
    if (node.takes_files) lines += fmt::format("complete -c {} -n {} -F\n", tree.at(0).path, condition);
  }
  return fmt::format(R"(# Completion of lockstep for fish: lockstep completion fish | source
function __lockstep_at
  set -l at {0}
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case {1}
        set at "$at $word"
    end
  end
  test "$at" = "$argv"
end
complete -c {0} -f
{2})",
                     tree.at(0).path, known_paths(tree, " "), lines);
}

}  // namespace lockstep::cli
