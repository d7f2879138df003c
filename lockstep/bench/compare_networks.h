// The same training steps over several networks, in turn: what a network is worth to this training.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/bench/network_choice.h"

namespace lockstep::bench {

struct CompareOptions {
  std::vector<NetworkChoice> networks;  // ratios are to the first
  int rounds = 5;                       // runs over each network
  int64_t steps = 12;                   // of a run
  int64_t skip = 3;                     // first steps that are not counted: they connect and warm up

  // Throws ConfigError naming the option, its value and what it takes.
  void validate() const;
};

// Median of a set and how far it goes.
struct Spread {
  double median = 0, least = 0, most = 0;
  // CHECKs that there are values.
  static Spread of(std::vector<double> values);
};

struct NetworkTimes {
  NetworkChoice network;
  std::vector<double> step_ms;  // by round: the median over a run's counted steps

  Spread spread() const { return Spread::of(step_ms); }
  // This network's time over `first`'s, round by round.
  Spread ratio_to(const NetworkTimes& first) const;
};

// One run over a network: milliseconds of each of its steps.
using TrainRun = std::function<std::vector<double>(const NetworkChoice& network)>;

// Calls `train` rounds x networks times; every other round goes through the networks backwards, so that what
// drifts does not favour one. `on_round` hears of each that is done. Throws what `train` throws.
std::vector<NetworkTimes> compare_networks(const CompareOptions& options, const TrainRun& train,
                                           const std::function<void(int round)>& on_round);

// A `lockstep train` of `recipe` by this program, in a run folder that is removed afterwards. `overrides` are
// the user's; the number of steps and the folder are added. Throws CommandError with the run's last words
// when it fails.
TrainRun train_with(const std::string& recipe, const std::vector<std::string>& overrides, int64_t steps);

// A table, and a line for each ratio; without the last newline.
std::string comparison_text(const CompareOptions& options, const std::vector<NetworkTimes>& times);
// Fields: docs/commands/bench.md.
Json comparison_json(const CompareOptions& options, const std::vector<NetworkTimes>& times);

}  // namespace lockstep::bench
