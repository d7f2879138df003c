#include "lockstep/base/nccl_setting.h"

#include <sstream>

#include "lockstep/base/split.h"

namespace lockstep {
namespace {

std::optional<std::string> value_in(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos && trimmed(line.substr(0, equals)) == name)
      return trimmed(line.substr(equals + 1));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> nccl_setting(const std::string& name, const ReadText& variable,
                                        const ReadText& file) {
  if (auto value = variable(name)) return value;
  const std::string own = variable("NCCL_CONF_FILE").value_or(variable("HOME").value_or("") + "/.nccl.conf");
  for (const std::string& path : {own, std::string("/etc/nccl.conf")}) {
    const auto text = file(path);
    if (!text) continue;
    if (auto value = value_in(*text, name)) return value;
  }
  return std::nullopt;
}

}  // namespace lockstep
