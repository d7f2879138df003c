#include "tests/base/include_arrows.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Besides its own and base, which all may include.
const std::map<std::string, std::set<std::string>>& arrows() {
  static const std::map<std::string, std::set<std::string>> map = {
      {"base", {}},
      {"storage", {}},
      {"comm", {}},
      {"kernels", {}},
      {"text", {}},
      {"transport", {}},
      {"estimate", {}},
      {"launch", {}},
      {"cluster", {}},
      {"record", {"storage"}},
      {"checkpoint", {"storage"}},
      {"nn", {"kernels"}},
      {"optim", {"kernels"}},
      {"fsdp", {"nn", "comm", "kernels"}},
      {"models", {"nn", "text"}},
      {"data", {"text", "storage"}},
      {"train",
       {"fsdp", "models", "data", "checkpoint", "optim", "transport", "record", "launch", "comm", "nn",
        "text", "storage"}},
      {"bench", {"comm", "launch", "record", "train", "fsdp", "models", "optim", "nn", "kernels"}},
      {"cli", {"cluster", "launch", "train", "record", "estimate", "transport", "bench"}},
  };
  return map;
}

struct Include {
  std::string file;  // "lockstep/nn/layer.h"
  int line = 0;
  bool quoted = false;
  std::string path;  // as written

  std::string place() const { return fmt::format("{}:{}", file, line); }
};

std::string folder_of(const std::string& path) {
  const size_t begin = std::string_view("lockstep/").size();
  const size_t end = path.find('/', begin);
  return path.starts_with("lockstep/") && end != path.npos ? path.substr(begin, end - begin) : "";
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> extensions = {".h", ".hpp", ".cuh", ".cpp", ".cc", ".cu"};
  return extensions.contains(path.extension());
}

std::vector<Include> includes_below(const std::string& root) {
  static const std::regex directive(R"(^\s*#\s*include\s*(["<])([^">]+)[">].*$)");
  std::vector<Include> includes;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / "lockstep")) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    const std::string file = fs::relative(entry.path(), root);
    std::ifstream stream(entry.path());
    std::string text;
    for (int line = 1; std::getline(stream, text); ++line) {
      std::smatch match;
      if (std::regex_match(text, match, directive))
        includes.push_back({file, line, match[1] == "\"", match[2]});
    }
  }
  std::sort(includes.begin(), includes.end(), [](const Include& a, const Include& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
  return includes;
}

}  // namespace

std::vector<std::string> broken_arrows(const std::string& root) {
  std::vector<std::string> broken;
  for (const Include& include : includes_below(root)) {
    const std::string from = folder_of(include.file);
    const std::string to = folder_of(include.path);
    if (include.file == "lockstep/lockstep.h")
      continue;  // the umbrella for users' programs; no folder includes it
    const auto allowed = arrows().find(from);
    if (allowed == arrows().end()) {
      broken.push_back(fmt::format("{}: the arrows know no folder \"{}\"", include.place(), from));
    } else if (include.path.find("..") != std::string::npos) {
      broken.push_back(fmt::format("{}: {} leaves its folder", include.place(), include.path));
    } else if (!to.empty() && to != from && to != "base" && !allowed->second.contains(to)) {
      broken.push_back(fmt::format("{}: {} may not include {}", include.place(), from, to));
    } else if (include.quoted && to.empty() && fs::exists(fs::path(root) / "lockstep" / include.path)) {
      broken.push_back(fmt::format("{}: {} without lockstep/ before it", include.place(), include.path));
    }
  }
  return broken;
}

std::vector<std::string> umbrella_includes(const std::string& root) {
  static const std::set<std::string> umbrellas = {"torch/torch.h", "torch/all.h"};
  std::vector<std::string> found;
  for (const Include& include : includes_below(root)) {
    const bool is_header = include.file.ends_with("h") || include.file.ends_with(".hpp");
    if (is_header && umbrellas.contains(include.path)) {
      found.push_back(fmt::format("{}: {} in a header", include.place(), include.path));
    }
  }
  return found;
}

}  // namespace lockstep
