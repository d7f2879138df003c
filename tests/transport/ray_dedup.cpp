#include "tests/transport/ray_dedup.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/transport/log_files.h"

namespace lockstep::transport {
namespace {

std::string key_of(const std::string& line) {
  std::istringstream words(line);
  std::string key;
  for (std::string word; words >> word;) {
    if (std::none_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; }))
      key += word + " ";
  }
  return key;
}

struct Alike {
  std::string last;
  int count = 0;
};

}  // namespace

std::string ray_deduplicated(const std::vector<FakeProcess>& processes, uint32_t seed, size_t window) {
  std::vector<std::vector<std::string>> prefixed;
  for (const FakeProcess& process : processes) {
    const std::string prefix =
        process.host() == processes.front().host()
            ? fmt::format("(RayTrainWorker pid={}) ", process.pid())
            : fmt::format("(RayTrainWorker pid={}, ip={}) ", process.pid(), process.ip());
    prefixed.emplace_back();
    for (const std::string& line : process.lines()) prefixed.back().push_back(prefix + line);
  }
  std::map<std::string, Alike> open;
  std::string text;
  size_t number = 0;
  const auto close = [&] {
    for (const auto& [key, alike] : open) {
      if (alike.count == 1) text += alike.last + "\n";
      if (alike.count > 1) text += fmt::format("{} [repeated {}x across cluster]\n", alike.last, alike.count);
    }
    open.clear();
  };
  for (const std::string& line : lines_of(interleaved(prefixed, seed))) {
    if (number++ % window == 0) close();
    const std::string key = key_of(line.substr(line.find(") ") + 2));
    const auto [found, is_new] = open.try_emplace(key);
    if (is_new) {
      text += line + "\n";
    } else {
      found->second.last = line;
      ++found->second.count;
    }
  }
  close();
  return text;
}

}  // namespace lockstep::transport
