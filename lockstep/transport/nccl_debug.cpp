#include "lockstep/transport/nccl_debug.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "lockstep/base/split.h"

namespace lockstep::transport {
namespace {

// Path lines are in INIT and P2P, SHM or NET; addresses that tell hosts of one name apart are in BOOTSTRAP
// from 2.23 on. Names that an older NCCL does not know do no harm.
constexpr std::array kNeeded = {"INIT", "BOOTSTRAP", "ENV", "NET", "P2P", "SHM"};

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// "^A,B" is all but A and B: without what is needed.
std::string subsystems_with_needed(const std::string& user) {
  const std::string given = upper(user);
  if (given.empty()) return fmt::format("{}", fmt::join(kNeeded, ","));
  const bool is_all_but = given.starts_with('^');
  std::vector<std::string> names = split(is_all_but ? given.substr(1) : given, ',');
  const auto is_needed = [](const std::string& name) {
    return name.empty() || std::find(kNeeded.begin(), kNeeded.end(), name) != kNeeded.end();
  };
  if (is_all_but) {
    std::erase_if(names, is_needed);
    return names.empty() ? "ALL" : fmt::format("^{}", fmt::join(names, ","));
  }
  std::erase_if(names, is_needed);
  names.insert(names.begin(), kNeeded.begin(), kNeeded.end());
  return fmt::format("{}", fmt::join(names, ","));
}

bool is_talkative(const std::string& level) {
  return level == "INFO" || level == "ABORT" || level == "TRACE";
}

}  // namespace

NcclDebug nccl_debug_of(const ReadText& variable, const ReadText& file) {
  const auto setting = [&](const std::string& name) {
    return nccl_setting(name, variable, file).value_or("");
  };
  return {upper(setting("NCCL_DEBUG")), setting("NCCL_DEBUG_SUBSYS"), setting("NCCL_DEBUG_FILE")};
}

NcclDebug with_evidence(const NcclDebug& user, const std::string& file) {
  NcclDebug debug;
  debug.level = user.level == "TRACE" ? user.level : "INFO";
  debug.subsystems = subsystems_with_needed(is_talkative(user.level) ? user.subsystems : "");
  for (const char c : file) debug.file += c == '%' ? std::string("%%") : std::string(1, c);
  return debug;
}

std::string as_asked(std::string_view text, const NcclDebug& user) {
  if (is_talkative(user.level)) return std::string(text);
  if (user.level != "VERSION" && user.level != "WARN") return "";
  std::string shown;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    const bool is_version = line.find("NCCL version ") != line.npos && line.find(" NCCL INFO ") == line.npos;
    const bool is_warning = line.find(" NCCL WARN ") != line.npos;
    if (is_version || (is_warning && user.level == "WARN")) shown += line;
  }
  return shown;
}

std::string expand_file_name(std::string_view file, const std::string& host, int pid) {
  std::string name;
  for (size_t i = 0; i < file.size(); ++i) {
    if (file[i] != '%' || i + 1 == file.size()) {
      name += file[i];
      continue;
    }
    switch (file[++i]) {
      case 'h':
        name += host;
        break;
      case 'p':
        name += std::to_string(pid);
        break;
      case '%':
        name += '%';
        break;
      default:
        name += {'%', file[i]};
    }
  }
  return name;
}

}  // namespace lockstep::transport
