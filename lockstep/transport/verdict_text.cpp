#include "lockstep/transport/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/utf8.h"

namespace lockstep::transport {
namespace {

constexpr size_t kMaxFindings = 3, kMaxCommunicators = 12;

std::string count(uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

// A log's own control characters must not reach the terminal.
std::string printable(std::string text) {
  const bool is_utf8 = !find_invalid_utf8(text);
  std::replace_if(
      text.begin(), text.end(),
      [&](char c) { return (c >= 0 && c < ' ') || c == '\x7f' || (c < 0 && !is_utf8); }, '?');
  return text;
}

std::string place(const Quote& quote, const JobVerdict& verdict) {
  return fmt::format("{}:{}", verdict.sources.at(quote.source), quote.line);
}

std::string row(std::string_view label, const std::string& text) {
  return fmt::format("  {:<9}{}\n", label, text);
}

std::string versions(const JobVerdict& verdict) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view library, const std::vector<std::string>& found) {
    if (!found.empty()) parts.push_back(fmt::format("{} {}", library, fmt::join(found, " and ")));
  };
  add("NCCL", verdict.nccl_versions);
  add("aws-ofi-nccl", verdict.plugin_versions);
  add("libfabric", verdict.libfabric_versions);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string network(const JobVerdict& verdict) {
  std::string text = fmt::format("{}", fmt::join(verdict.networks, ", "));
  if (!verdict.providers.empty())
    text += fmt::format("{}libfabric's provider {}", text.empty() ? "" : "; ",
                        fmt::join(verdict.providers, ", "));
  if (!verdict.fabrics.empty()) text += fmt::format(", fabric {}", fmt::join(verdict.fabrics, ", "));
  if (!verdict.device_counts.empty())
    text += fmt::format(", {} device{}", fmt::join(verdict.device_counts, " or "),
                        verdict.device_counts == std::vector<uint32_t>{1} ? "" : "s");
  if (!verdict.platforms.empty()) text += fmt::format(", on {}", fmt::join(verdict.platforms, ", "));
  return text.empty() ? "none named" : text;
}

// Communicators that are alike in one row: "8 of 2 ranks".
std::string communicators(const JobVerdict& verdict) {
  struct Kind {
    const CommunicatorVerdict* first;
    size_t count;
  };
  std::vector<Kind> kinds;
  for (const CommunicatorVerdict& communicator : verdict.communicators) {
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
      return kind.first->num_ranks == communicator.num_ranks && kind.first->reason == communicator.reason;
    });
    if (same != kinds.end()) {
      ++same->count;
    } else {
      kinds.push_back({&communicator, 1});
    }
  }
  std::string text;
  for (size_t i = 0; i < std::min(kinds.size(), kMaxCommunicators); ++i) {
    const CommunicatorVerdict& first = *kinds[i].first;
    const std::string which = kinds[i].count == 1
                                  ? fmt::format("{} ranks, {}", first.num_ranks, first.name)
                                  : fmt::format("{} of {} ranks", kinds[i].count, first.num_ranks);
    const std::string level = first.level == Level::kNothing ? "" : fmt::format(", {}", word(first.level));
    text += fmt::format("  {:<9}{}: {}{}: {}\n", i == 0 ? "comms" : "", which, word(first.transport), level,
                        first.reason);
  }
  if (kinds.size() > kMaxCommunicators)
    text += fmt::format("  {:<9}and {} other kinds\n", "", kinds.size() - kMaxCommunicators);
  return text;
}

}  // namespace

std::string verdict_text(const std::string& name, const JobVerdict& verdict) {
  std::string text = fmt::format("{}: {}", name, word(verdict.transport));
  if (verdict.level != Level::kNothing) text += fmt::format(", {}", word(verdict.level));
  text += "\n";
  text += row("what", fmt::format("{}, {}: {}", count(verdict.hosts.size(), "host"),
                                  count(verdict.num_ranks, "rank"), verdict.reason));
  text += row("network", network(verdict));
  text += row("gdr", fmt::format("{}", word(verdict.gpu_direct)));
  if (const std::string libraries = versions(verdict); !libraries.empty()) text += row("versions", libraries);
  for (const Quote& quote : verdict.proof)
    text += row("proof", fmt::format("{}: {}", place(quote, verdict), quote.text));
  for (size_t i = 0; i < std::min(verdict.findings.size(), kMaxFindings); ++i) {
    const Finding& finding = verdict.findings[i];
    const std::string where = finding.line.line == 0 ? ""
                              : finding.count > 1    ? fmt::format(" ({} lines, the first {})", finding.count,
                                                                   place(finding.line, verdict))
                                                     : fmt::format(" ({})", place(finding.line, verdict));
    text += row("cause", finding.cause + where);
    text += row("fix", finding.fix);
  }
  if (verdict.communicators.size() > 1) text += communicators(verdict);
  std::string clean;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    clean += printable(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return clean;
}

}  // namespace lockstep::transport
