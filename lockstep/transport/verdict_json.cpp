#include "lockstep/transport/verdict_json.h"

#include <string>

namespace lockstep::transport {
namespace {

Json quote_json(const Quote& quote, const JobVerdict& verdict) {
  return {{"log", verdict.sources.at(quote.source)}, {"line", quote.line}, {"text", quote.text}};
}

Json quotes_json(const std::vector<Quote>& quotes, const JobVerdict& verdict) {
  Json list = Json::array();
  for (const Quote& quote : quotes) list.push_back(quote_json(quote, verdict));
  return list;
}

Json pair_json(const PairVerdict& pair) {
  return {{"ranks", {pair.rank_a, pair.rank_b}},
          {"transport", word(pair.transport)},
          {"level", word(pair.level)},
          {"gpu_direct", word(pair.gpu_direct)}};
}

Json communicator_json(const CommunicatorVerdict& communicator) {
  Json pairs = Json::array();
  for (const PairVerdict& pair : communicator.pairs) pairs.push_back(pair_json(pair));
  return {{"name", communicator.name},
          {"ranks", communicator.num_ranks},
          {"hosts", communicator.hosts},
          {"transport", word(communicator.transport)},
          {"level", word(communicator.level)},
          {"gpu_direct", word(communicator.gpu_direct)},
          {"networks", communicator.networks},
          {"ranks_seen", communicator.ranks_seen},
          {"ranks_selected", communicator.ranks_selected},
          {"silent_ranks", communicator.silent_ranks},
          {"reason", communicator.reason},
          {"pairs", std::move(pairs)}};
}

Json finding_json(const Finding& finding, const JobVerdict& verdict) {
  Json json = {{"cause", finding.cause}, {"fix", finding.fix}, {"count", finding.count}};
  json["line"] = finding.line.line == 0 ? Json() : quote_json(finding.line, verdict);
  return json;
}

}  // namespace

Json verdict_json(const JobVerdict& verdict) {
  Json communicators = Json::array(), findings = Json::array();
  for (const CommunicatorVerdict& communicator : verdict.communicators)
    communicators.push_back(communicator_json(communicator));
  for (const Finding& finding : verdict.findings) findings.push_back(finding_json(finding, verdict));
  return {{"transport", word(verdict.transport)},
          {"level", word(verdict.level)},
          {"gpu_direct", word(verdict.gpu_direct)},
          {"reason", verdict.reason},
          {"hosts", verdict.hosts},
          {"ranks", verdict.num_ranks},
          {"networks", verdict.networks},
          {"providers", verdict.providers},
          {"fabrics", verdict.fabrics},
          {"device_counts", verdict.device_counts},
          {"platforms", verdict.platforms},
          {"versions",
           {{"nccl", verdict.nccl_versions},
            {"aws-ofi-nccl", verdict.plugin_versions},
            {"libfabric", verdict.libfabric_versions}}},
          {"proof", quotes_json(verdict.proof, verdict)},
          {"findings", std::move(findings)},
          {"warnings", quotes_json(verdict.warnings, verdict)},
          {"environment", verdict.environment},
          {"communicators", std::move(communicators)},
          {"logs", verdict.sources},
          {"lines", verdict.num_lines},
          {"nccl_lines", verdict.num_records}};
}

}  // namespace lockstep::transport
