// Runs what docs/commands/*.md show in ```console blocks: each line that begins with "$ " as a
// command, in the source folder. The lines below it are its output, standard error included; a
// line "..." stands for any number of lines. Training itself is left to other tests: of a command
// that trains, the dry run must work.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "lockstep_program.h"
#include "tests/paths.h"

namespace lockstep::cli {
namespace {

struct Example {
  std::string place;  // "docs/commands/train.md:12"
  std::string command;
  std::vector<std::string> output;
};

std::vector<Example> examples_in(const std::filesystem::path& page) {
  std::vector<Example> examples;
  std::ifstream file(page);
  bool in_block = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("```")) {
      in_block = line == "```console";
    } else if (in_block && line.starts_with("$ ")) {
      examples.push_back({page.filename().string() + ":" + std::to_string(number), line.substr(2), {}});
    } else if (in_block && !examples.empty()) {
      examples.back().output.push_back(line);
    }
  }
  return examples;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Whether `lines` from `line` on are `expected` from `next` on.
bool matches(const std::vector<std::string>& expected, const std::vector<std::string>& lines, size_t next = 0,
             size_t line = 0) {
  if (next == expected.size()) return line == lines.size();
  if (expected[next] == "...") {
    for (size_t end = line; end <= lines.size(); ++end) {
      if (matches(expected, lines, next + 1, end)) return true;
    }
    return false;
  }
  return line < lines.size() && expected[next] == lines[line] && matches(expected, lines, next + 1, line + 1);
}

bool trains(const std::string& command) {
  return command.find("lockstep train") != std::string::npos &&
         command.find("--dry-run") == std::string::npos && command.find("--help") == std::string::npos;
}

TEST(DocsCommands, DoWhatTheirPagesShow) {
  int num_examples = 0;
  for (const auto& page : std::filesystem::directory_iterator(source_path("docs/commands"))) {
    for (const Example& example : examples_in(page.path())) {
      SCOPED_TRACE(example.place + ": " + example.command);
      ++num_examples;
      const bool dry = trains(example.command);
      const Finished finished = shell(example.command + (dry ? " --dry-run" : "") + " 2>&1");
      const bool shows_error =
          testing::Matches(testing::Contains(testing::StartsWith("lockstep: error: ")))(example.output);
      EXPECT_EQ(finished.exit_code != 0, shows_error) << finished.out;
      if (dry && !shows_error) continue;
      EXPECT_TRUE(matches(example.output, lines_of(finished.out))) << "it printed:\n" << finished.out;
    }
  }
  EXPECT_GT(num_examples, 5);
}

TEST(Troubleshooting, ItsHeadingsAreWordsOfErrorsThatTheCodeGives) {
  std::string sources;
  for (const char* folder : {"lockstep", "python/lockstep_ray/lockstep_ray"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(source_path(folder))) {
      if (file.path().extension() != ".cpp" && file.path().extension() != ".py") continue;
      std::ostringstream text;
      text << std::ifstream(file.path()).rdbuf();
      sources += text.str();
    }
  }
  // What the code composes from parts, and what services say.
  const std::vector<std::string> composed = {"ended with signal 9 (SIGKILL)",  "ended with signal",
                                             "No space left on device",        "out of memory on cuda",
                                             "The provided token has expired", "Operation too slow"};
  std::ifstream page(source_path("docs/troubleshooting.md"));
  int num_headings = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("### `")) continue;
    ++num_headings;
    const std::string words = line.substr(5, line.rfind('`') - 5);
    if (std::find(composed.begin(), composed.end(), words) != composed.end()) continue;
    EXPECT_NE(sources.find(words), std::string::npos) << "no source says: " << words;
  }
  EXPECT_GT(num_headings, 5);
}

TEST(DocsCommands, EveryCommandHasAPage) {
  const Finished help = lockstep({"--help"});
  std::smatch found;
  const std::regex command(R"(\n  ([a-z]+) +[A-Z])");
  int num_commands = 0;
  const std::string commands = help.out.substr(help.out.find("Subcommands:"));
  for (std::sregex_iterator it(commands.begin(), commands.end(), command), end; it != end; ++it) {
    ++num_commands;
    EXPECT_TRUE(std::filesystem::exists(source_path("docs/commands/" + (*it)[1].str() + ".md"))) << (*it)[1];
  }
  EXPECT_GE(num_commands, 4);
}

}  // namespace
}  // namespace lockstep::cli
