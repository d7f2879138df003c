// The third level of evidence: over which network the first steps of a training really went.
#pragma once

#include <cstdint>
#include <optional>

#include "lockstep/base/recipe.h"
#include "lockstep/train/engine.h"
#include "lockstep/train/network_gate.h"
#include "lockstep/train/reporter.h"
#include "lockstep/train/traffic_watch.h"

namespace lockstep::train {

class FirstSteps {
 public:
  static constexpr int64_t kSteps = 20;

  // Does nothing where all ranks are on one host. Its arguments must outlive it.
  FirstSteps(const NetworkConfig& network, Engine& engine, Admission& admission, Reporter& reporter);

  // Every rank, with the steps that this start has done. After kSteps rank 0 writes the event
  // `verdict`; when the counters show another network than network.require, it throws TransportError.
  void after(int64_t steps);

 private:
  const NetworkConfig& network_;
  Engine& engine_;
  Admission& admission_;
  Reporter& reporter_;
  std::optional<TrafficWatch> watch_;
};

}  // namespace lockstep::train
