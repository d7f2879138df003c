// Nothing is trained over the wrong network: before data or weights are read, the ranks show over what they
// talk to each other, rank 0 judges (transport/verdict.h), and a refusal ends all of them with exit code 5.
//
//   NetworkGate gate(recipe.network, env, use_gpu);     // before the first call to NCCL
//   Engine engine(...);
//   const Admission admission = gate.admit(engine);     // forms the process groups
//
// Twice: once the groups are formed, which is when NCCL says what it selected and before it may hang over
// networks that do not fit; and again when the collectives of training have connected the ranks. The ranks
// exchange words through the store, so that this works where the network does not.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/base/json.h"
#include "lockstep/base/recipe.h"
#include "lockstep/launch/worker_env.h"
#include "lockstep/train/engine.h"
#include "lockstep/train/rank_evidence.h"
#include "lockstep/transport/efficiency.h"
#include "lockstep/transport/nccl_capture.h"
#include "lockstep/transport/verdict.h"

namespace lockstep::train {

struct Admission {
  std::string refusal;             // why not, in words, alike on every rank; empty: training may begin
  std::vector<std::string> hosts;  // of each rank, as RankEvidence names them; empty for one rank alone
  // Rank 0 only:
  transport::JobVerdict verdict;
  Json report = Json::object();  // docs/transport.md

  bool spans_hosts() const;
};

class NetworkGate {
 public:
  // On a GPU, with more than one rank: captures NCCL's log, in the run's folder or, when nobody has said
  // which that is, in a temporary file; and with network.hard_guard sets NCCL_NET, unless it is set.
  NetworkGate(const NetworkConfig& network, const launch::WorkerEnv& env, bool use_gpu);
  ~NetworkGate();  // removes the temporary file

  // Collective. Calls engine.connect(). Throws what that throws when it is not the network's fault, and
  // CommError.
  Admission admit(Engine& engine);

  // Puts the log that was captured in a temporary file in its place.
  void keep_log(const std::string& run_dir, int generation);

 private:
  struct Failure {
    std::string words;
    std::exception_ptr error;
  };
  struct Decision {
    std::string refusal, failure;
    std::vector<std::string> hosts;
  };

  RankEvidence evidence(const std::string& failure) const;
  transport::JobVerdict judge(const std::vector<RankEvidence>& ranks, transport::Level if_gloo) const;
  std::string refuse_selected(const transport::JobVerdict& verdict) const;
  std::string refuse_connected(const transport::JobVerdict& verdict) const;
  std::string refuse_slow(const transport::JobVerdict& verdict,
                          const transport::EfficiencyVerdict& efficiency) const;
  Decision publish(comm::Rendezvous& rendezvous, const std::string& stage, const Decision& decision) const;
  Decision learn(comm::Rendezvous& rendezvous, const std::string& stage, const Failure& failure) const;

  void check_selected(Engine& engine, const Failure& failure, Admission& admission) const;
  void check_connected(Engine& engine, Admission& admission) const;

  const NetworkConfig& network_;
  const launch::WorkerEnv env_;
  const bool use_gpu_;
  std::unique_ptr<transport::NcclCapture> capture_;  // null on the CPU, and for one rank alone
  bool is_temporary_ = false;
  Stopwatch since_start_;
};

}  // namespace lockstep::train
