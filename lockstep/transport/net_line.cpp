#include "lockstep/transport/net_line.h"

#include <algorithm>

#include "lockstep/transport/net_name.h"
#include "lockstep/transport/text_scanner.h"

namespace lockstep::transport {
namespace {

// Major and minor as one number: 2.21.5 is 2021. 0 where there is none.
uint32_t minor_of(std::string_view version) {
  TextScanner scanner(version);
  uint32_t major = 0, minor = 0;
  if (!scanner.number(major) || !scanner.take('.') || !scanner.number(minor) || major > 999 || minor > 999)
    return 0;
  return major * 1000 + minor;
}

// "2.21.5+cuda12.4", "1.13.2-aws", "2.3": numbers with dots, then perhaps a suffix. What is glued
// to a cut version mostly is not one.
bool is_version(std::string_view text) {
  TextScanner scanner(text);
  uint32_t number = 0;
  do {
    if (!scanner.number(number)) return false;
  } while (scanner.take('.'));
  if (scanner.at_end()) return true;
  if (!scanner.take('+') && !scanner.take('-')) return false;
  const std::string_view suffix = scanner.rest();
  return !suffix.empty() && suffix.size() <= 32 && std::all_of(suffix.begin(), suffix.end(), [](char c) {
    return TextScanner::is_word(c) || c == '.' || c == '-';
  });
}

}  // namespace

std::optional<std::string_view> parse_network(std::string_view text) {
  TextScanner scanner(text);
  std::string_view name;
  if (scanner.take("Using network ")) {
    name = scanner.rest();
  } else if (scanner.take("Assigned NET plugin ")) {
    name = scanner.rest();
    if (!take_at_end(name, " to comm")) return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (!is_net_name(name)) return std::nullopt;
  return name;
}

std::optional<ProviderLine> parse_provider(std::string_view text) {
  TextScanner scanner(text);
  ProviderLine line;
  if (!scanner.take("NET/OFI Selected ")) return std::nullopt;
  if (!scanner.take("Provider is ") && !scanner.take("provider is ")) return std::nullopt;
  const std::string_view left = scanner.rest();
  line.provider = left.substr(0, left.find_first_of(" ,()"));
  if (line.provider.empty() || line.provider.size() > 64) return std::nullopt;
  // What follows shows that the name is whole; the rest may be cut.
  TextScanner after(left.substr(line.provider.size()));
  line.is_whole = !after.at_end();
  if (line.is_whole && !after.take(",") && !after.take(" (")) return std::nullopt;
  after = TextScanner(left.substr(line.provider.size()));
  if (after.take(", fabric is ")) {
    line.fabric = after.rest().substr(0, after.rest().find(' '));
    if (line.fabric.size() > 64) line.fabric = {};
    after.take(line.fabric);
  }
  if (after.take(" (found ")) after.number(line.num_nics);
  return line;
}

bool is_ofi_failure(std::string_view text) {
  return text.starts_with("NET/OFI ") &&
         (text.ends_with("aws-ofi-nccl initialization failed") ||
          text.ends_with("Initializing plugin failed") || text.ends_with("Failing initialization."));
}

std::optional<EnvironmentLine> parse_environment(std::string_view text) {
  TextScanner scanner(text);
  EnvironmentLine line;
  if (!text.starts_with("NCCL_") || !scanner.identifier(line.name) ||
      (!scanner.take(" set by environment to ") && !scanner.take(" set to "))) {
    return std::nullopt;
  }
  line.value = scanner.rest();
  take_at_end(line.value, ".");
  if (line.name.size() > 64 || line.value.size() > 256) return std::nullopt;
  return line;
}

std::optional<VersionLine> parse_version(std::string_view text) {
  TextScanner scanner(text);
  VersionLine line;
  if (scanner.take("NCCL version ")) {
    line.library = Library::kNccl;
  } else if (scanner.take("NET/OFI Initializing aws-ofi-nccl ") ||
             scanner.take("NET/OFI Using aws-ofi-nccl ")) {
    line.library = Library::kPlugin;
  } else if (scanner.take("NET/OFI Using Libfabric version ")) {
    line.library = Library::kLibfabric;
  } else {
    return std::nullopt;
  }
  // The plugin may put "GitHub-dev" or a date behind its number.
  line.version = scanner.rest().substr(0, scanner.rest().find(' '));
  if (!is_version(line.version)) return std::nullopt;
  return line;
}

bool connects_on_use(std::string_view nccl_version) { return minor_of(nccl_version) >= 2022; }

bool selects_once(std::string_view nccl_version) {
  const uint32_t minor = minor_of(nccl_version);
  return minor > 0 && minor < 2018;
}

bool counts_nics(std::string_view plugin_version) { return minor_of(plugin_version) >= 1006; }

uint8_t plugin_wording(std::string_view text) {
  if (text.starts_with("NET/Plugin : ") && text.ends_with("using internal implementation")) return 1;
  if (text.starts_with("NET/Plugin: No plugin found (")) return 2;
  if (!text.starts_with("NET/Plugin: Could not find: ")) return 0;
  if (text.ends_with("Using internal network plugin.")) return 3;
  if (text.ends_with("Using internal net plugin.")) return 4;
  return text.ends_with('.') ? 5 : 6;
}

std::string_view versions_of_wording(uint8_t wording) {
  constexpr std::string_view kVersions[] = {"",     "up to 2.20", "2.21",         "2.22 to 2.25",
                                            "2.26", "2.27",       "2.28 or newer"};
  return wording < std::size(kVersions) ? kVersions[wording] : "";
}

}  // namespace lockstep::transport
