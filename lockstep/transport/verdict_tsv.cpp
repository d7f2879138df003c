#include "lockstep/transport/verdict_tsv.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::transport {
namespace {

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, "+"));
}

// A field may hold no tab and no newline.
std::string field(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

std::string tsv_header() {
  return "file\tnodes\tranks\tinter_node_transport\tplugin\tprovider\tgdrdma\twhy\n";
}

std::string tsv_row(const std::string& file, const JobVerdict& verdict) {
  std::string why = verdict.reason;
  if (!verdict.findings.empty()) why += "; " + verdict.findings.front().cause;
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", field(file), verdict.hosts.size(), verdict.num_ranks,
                     word(verdict.transport), field(joined(verdict.networks)),
                     field(joined(verdict.providers)), word(verdict.gpu_direct), field(why));
}

}  // namespace lockstep::transport
