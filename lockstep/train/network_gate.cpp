#include "lockstep/train/network_gate.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "lockstep/base/env_var.h"
#include "lockstep/base/io_error.h"
#include "lockstep/base/optional_json.h"
#include "lockstep/comm/own_address.h"
#include "lockstep/record/run_directory.h"
#include "lockstep/train/network_probe.h"
#include "lockstep/train/traffic_watch.h"
#include "lockstep/transport/log_evidence.h"
#include "lockstep/transport/requirement.h"
#include "lockstep/transport/verdict_json.h"

namespace lockstep::train {
namespace {

using transport::JobVerdict;
using transport::Level;
using transport::Transport;

// A rank that failed waits this long for the others to say why; they may hang for want of it.
constexpr std::chrono::seconds kPatienceAfterFailure{15};

constexpr std::chrono::seconds kPatienceToEnd{2};

// For each collective of the probe: one that hangs, because the network lets connections through but not
// data, shall not cost failure.hang_timeout.
constexpr std::chrono::seconds kLongestCollective{25};

std::string heard_key(const std::string& stage, int rank) { return fmt::format("heard/{}/{}", stage, rank); }

bool differ(const std::vector<std::string>& hosts) {
  return std::set<std::string>(hosts.begin(), hosts.end()).size() > 1;
}

std::vector<std::string> hosts_of(const std::vector<RankEvidence>& ranks) {
  std::vector<std::string> hosts;
  for (const RankEvidence& rank : ranks) hosts.push_back(rank.host);
  return hosts;
}

std::string first_failure(const std::vector<RankEvidence>& ranks) {
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].failure.empty()) return fmt::format("rank {}: {}", rank, ranks[rank].failure);
  }
  return "";
}

std::string with_fix(std::string words, const JobVerdict& verdict) {
  if (words.empty() || verdict.findings.empty()) return words;
  return fmt::format("{}. Way out: {}", words, verdict.findings.front().fix);
}

std::vector<transport::HostLinks> links_of(const std::vector<RankEvidence>& ranks) {
  std::vector<transport::HostLinks> links;
  std::set<std::string> seen;
  for (const RankEvidence& rank : ranks) {
    if (seen.insert(rank.host).second) links.push_back({rank.name, rank.devices, rank.interfaces});
  }
  return links;
}

Json efficiency_json(const transport::Bandwidth& measured, const transport::EfficiencyVerdict& efficiency) {
  return {{"all_gather_bytes", measured.bytes},
          {"seconds", measured.seconds},
          {"bus_bytes_per_s", efficiency.bus_bytes_per_s},
          {"line_rate", or_null(efficiency.line_rate)},
          {"share", or_null(efficiency.share)},
          {"causes", efficiency.causes}};
}

}  // namespace

bool Admission::spans_hosts() const { return differ(hosts); }

NetworkGate::NetworkGate(const NetworkConfig& network, const launch::WorkerEnv& env, bool use_gpu)
    : network_(network), env_(env), use_gpu_(use_gpu) {
  if (!use_gpu || env.world_size == 1) return;
  // Both names of the plugin's network are the older one's or are taken by the newer: see docs/transport.md.
  if (network.hard_guard && env.local_world_size < env.world_size) {
    ::setenv("NCCL_NET", network.require == "efa" ? "AWS Libfabric" : "IB", /*overwrite=*/0);
  }
  is_temporary_ = env.run_dir.empty();
  const std::string path =
      is_temporary_
          ? (std::filesystem::temp_directory_path() / fmt::format("lockstep-nccl-{}.log", ::getpid()))
                .string()
          : record::RunDirectory::open(env.run_dir).nccl_log_path(env.generation, env.rank);
  capture_ = std::make_unique<transport::NcclCapture>(path);
}

NetworkGate::~NetworkGate() {
  std::error_code ignored;  // it is litter in a folder for litter
  if (is_temporary_) std::filesystem::remove(capture_->path(), ignored);
}

void NetworkGate::keep_log(const std::string& run_dir, int generation) {
  if (!is_temporary_) return;
  namespace fs = std::filesystem;
  const fs::path path = record::RunDirectory::open(run_dir).nccl_log_path(generation, env_.rank);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (!error) fs::copy_file(capture_->path(), path, fs::copy_options::overwrite_existing, error);
  if (error) throw_io_error("write", path.string(), error.value());
}

RankEvidence NetworkGate::evidence(const std::string& failure) const {
  auto evidence = RankEvidence::of_this_process(capture_ ? capture_->text() : "", failure);
  if (use_gpu_) return evidence;
  const std::string named = env_var("GLOO_SOCKET_IFNAME").value_or("");
  evidence.interfaces = {named.empty() ? comm::interface_of(comm::address_towards(env_.master_addr)) : named};
  return evidence;
}

JobVerdict NetworkGate::judge(const std::vector<RankEvidence>& ranks, Level if_gloo) const {
  if (use_gpu_) {
    transport::LogEvidence logs;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      logs.begin_source(fmt::format("rank-{:03}.log", rank));
      logs.add(ranks[rank].log);
      logs.end_source();
    }
    return transport::judge(logs);
  }
  JobVerdict verdict;
  std::set<std::string> names;
  for (const RankEvidence& rank : ranks) names.insert(rank.name);
  verdict.hosts.assign(names.begin(), names.end());
  verdict.num_ranks = static_cast<uint32_t>(ranks.size());
  verdict.networks = {"Gloo"};
  verdict.level = if_gloo;
  const bool spans_hosts = differ(hosts_of(ranks));
  verdict.transport = spans_hosts ? Transport::kSocket : Transport::kNone;
  verdict.reason = spans_hosts ? "on the CPU Gloo connects the ranks over TCP" : "all ranks are on one host";
  return verdict;
}

// A network that ranks do not agree on hangs or fails at the first collective, whatever is required.
std::string NetworkGate::refuse_selected(const JobVerdict& verdict) const {
  const bool is_decided = verdict.transport == Transport::kMixed ||
                          (network_.require != "any" && verdict.transport != Transport::kUnknown);
  if (!is_decided) return "";
  if (verdict.transport == Transport::kMixed)
    return fmt::format("the ranks do not share a network: {}", verdict.reason);
  return transport::refusal(verdict, {.requirement = transport::requirements().at(network_.require),
                                      .least = Level::kSelected,
                                      .one_node = env_.local_world_size == env_.world_size});
}

std::string NetworkGate::refuse_connected(const JobVerdict& verdict) const {
  if (network_.require == "any") return refuse_selected(verdict);
  return transport::refusal(verdict, {.requirement = transport::requirements().at(network_.require),
                                      .least = Level::kConnected,
                                      .one_node = env_.local_world_size == env_.world_size});
}

std::string NetworkGate::refuse_slow(const JobVerdict& verdict,
                                     const transport::EfficiencyVerdict& efficiency) const {
  if (network_.min_efficiency == 0) return "";
  if (!efficiency.share) {
    return fmt::format(
        "network.min_efficiency is {:g}, but the line rate of the network in use ({}) is not known on every "
        "host; set "
        "network.min_efficiency=0 to train all the same",
        network_.min_efficiency, word(verdict.transport));
  }
  if (*efficiency.share >= network_.min_efficiency) return "";
  const std::string cause = efficiency.causes.empty() ? "" : "; " + efficiency.causes.front();
  return fmt::format(
      "connected over {}, but slow: {:.2f} GB/s, {:.2f} of the line rate, network.min_efficiency is {:g}{}",
      word(verdict.transport), efficiency.bus_bytes_per_s / 1e9, *efficiency.share, network_.min_efficiency,
      cause);
}

NetworkGate::Decision NetworkGate::publish(comm::Rendezvous& rendezvous, const std::string& stage,
                                           const Decision& decision) const {
  const Json json = {{"refusal", decision.refusal}, {"failure", decision.failure}, {"hosts", decision.hosts}};
  rendezvous.post("decision/" + stage, json.dump(-1, ' ', false, Json::error_handler_t::replace));
  // After a refusal this rank ends, and the store with it.
  for (int rank = 1; !decision.refusal.empty() && rank < env_.world_size; ++rank) {
    try {
      rendezvous.fetch(heard_key(stage, rank), kPatienceToEnd, "");
    } catch (const CommError&) {
      // It has ended otherwise.
    }
  }
  return decision;
}

NetworkGate::Decision NetworkGate::learn(comm::Rendezvous& rendezvous, const std::string& stage,
                                         const Failure& failure) const {
  const auto timeout =
      failure.error ? std::chrono::milliseconds(kPatienceAfterFailure) : rendezvous.timeout();
  const Json json =
      Json::parse(rendezvous.fetch("decision/" + stage, timeout, "rank 0's word on the network"));
  if (json.at("refusal") != "") rendezvous.post(heard_key(stage, env_.rank), "1");
  return {json.at("refusal"), json.at("failure"), json.at("hosts")};
}

// Also where this rank could not connect: then the others, which may hang for want of it, are not waited for.
void NetworkGate::check_selected(Engine& engine, const Failure& failure, Admission& admission) const {
  comm::Rendezvous& rendezvous = engine.rendezvous();
  const RankEvidence mine = evidence(failure.words);
  const auto patience =
      failure.error ? std::chrono::milliseconds(kPatienceAfterFailure) : rendezvous.timeout();
  Decision decision;
  try {
    const auto ranks = collect(rendezvous, "selected", mine, patience);
    if (env_.rank != 0) {
      decision = learn(rendezvous, "selected", failure);
    } else {
      admission.verdict = judge(ranks, Level::kSelected);
      decision = {with_fix(refuse_selected(admission.verdict), admission.verdict), first_failure(ranks),
                  hosts_of(ranks)};
      if (decision.refusal.empty() && !decision.failure.empty() && network_.hard_guard) {
        decision.refusal =
            with_fix("NCCL does not start without the network of network.require: " + decision.failure,
                     admission.verdict);
      }
      publish(rendezvous, "selected", decision);
    }
  } catch (const CommError&) {
    if (!failure.error) throw;
    // The others hang over what failed here.
    if (network_.hard_guard) {
      admission.refusal = "NCCL does not start without the network of network.require: " + failure.words;
      return;
    }
    std::rethrow_exception(failure.error);
  }
  admission.refusal = decision.refusal;
  admission.hosts = decision.hosts;
  if (!admission.refusal.empty()) return;
  if (failure.error) std::rethrow_exception(failure.error);
  if (!decision.failure.empty()) throw CommError("comm: " + decision.failure);
}

void NetworkGate::check_connected(Engine& engine, Admission& admission) const {
  comm::Rendezvous& rendezvous = engine.rendezvous();
  engine.mesh().position().phase = "network probe";
  std::optional<TrafficWatch> watch;
  if (admission.spans_hosts()) watch.emplace(rendezvous, engine.mesh(), admission.hosts);
  engine.mesh().set_timeout(std::min<std::chrono::milliseconds>(kLongestCollective, rendezvous.timeout()));
  exercise(engine.mesh(), engine.device());
  std::optional<transport::Bandwidth> measured;
  if (watch) measured = measure_bandwidth(engine.mesh(), engine.device());
  engine.mesh().set_timeout(rendezvous.timeout());

  const auto ranks = collect(rendezvous, "connected", evidence(""), rendezvous.timeout());
  if (env_.rank == 0) admission.verdict = judge(ranks, Level::kConnected);
  const auto moved = watch ? watch->finish("probe", admission.verdict.transport) : std::nullopt;
  if (env_.rank != 0) {
    admission.refusal = learn(rendezvous, "connected", {}).refusal;
    return;
  }
  Json report = Json::object();
  if (moved) {
    report["moved"] = {{"transport", word(moved->transport)}, {"reason", moved->reason}};
    transport::overrule(admission.verdict, *moved);
  }
  std::string refusal = with_fix(refuse_connected(admission.verdict), admission.verdict);
  if (measured) {
    const auto efficiency =
        judge_efficiency(*measured, admission.verdict, links_of(ranks), network_.min_efficiency);
    report["efficiency"] = efficiency_json(*measured, efficiency);
    if (refusal.empty()) refusal = refuse_slow(admission.verdict, efficiency);
  }
  admission.report = std::move(report);
  admission.refusal = publish(rendezvous, "connected", {refusal, "", admission.hosts}).refusal;
}

Admission NetworkGate::admit(Engine& engine) {
  Admission admission;
  if (env_.world_size == 1) {
    engine.connect();
    admission.verdict.transport = Transport::kNone;
    admission.verdict.reason = "one rank";
    admission.report = transport::verdict_json(admission.verdict);
    return admission;
  }
  Failure failure;
  try {
    engine.connect();
  } catch (const std::exception& error) {
    failure = {error.what(), std::current_exception()};
  }
  check_selected(engine, failure, admission);
  if (admission.refusal.empty()) check_connected(engine, admission);
  if (env_.rank != 0) return admission;
  Json report = transport::verdict_json(admission.verdict);
  report.update(admission.report);
  report["require"] = network_.require;
  report["refusal"] = admission.refusal;
  report["seconds"] = since_start_.seconds();
  admission.report = std::move(report);
  return admission;
}

}  // namespace lockstep::train
