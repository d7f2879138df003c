#include "lockstep/bench/compare_networks.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/base/optional_json.h"

namespace lockstep::bench {
namespace {

Json to_json(const Spread& spread) {
  return {{"median", spread.median}, {"least", spread.least}, {"most", spread.most}};
}

}  // namespace

void CompareOptions::validate() const {
  if (rounds < 1)
    throw ConfigError(fmt::format("bench: --rounds is {}: it takes a whole number from 1 on", rounds));
  if (skip < 0)
    throw ConfigError(fmt::format("bench: --skip is {}: it takes a whole number from 0 on", skip));
  if (steps <= skip)
    throw ConfigError(
        fmt::format("bench: --steps is {}: it takes more than --skip, which is {}", steps, skip));
}

Spread Spread::of(std::vector<double> values) {
  LOCKSTEP_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {median, values.front(), values.back()};
}

Spread NetworkTimes::ratio_to(const NetworkTimes& first) const {
  std::vector<double> ratios;
  for (size_t round = 0; round < step_ms.size(); ++round)
    ratios.push_back(step_ms[round] / first.step_ms.at(round));
  return Spread::of(std::move(ratios));
}

std::vector<NetworkTimes> compare_networks(const CompareOptions& options, const TrainRun& train,
                                           const std::function<void(int round)>& on_round) {
  std::vector<NetworkTimes> times;
  for (const NetworkChoice& network : options.networks) times.push_back({network, {}});
  std::vector<NetworkTimes*> order;
  for (NetworkTimes& network : times) order.push_back(&network);
  for (int round = 0; round < options.rounds; ++round) {
    for (NetworkTimes* network : order) {
      std::vector<double> step_ms = train(network->network);
      if (static_cast<int64_t>(step_ms.size()) <= options.skip)
        throw ConfigError(
            fmt::format("bench: a run over {} had {} steps, and --skip {} leaves none: raise --steps",
                        network->network.name, step_ms.size(), options.skip));
      step_ms.erase(step_ms.begin(), step_ms.begin() + options.skip);
      network->step_ms.push_back(Spread::of(std::move(step_ms)).median);
    }
    std::reverse(order.begin(), order.end());
    if (on_round) on_round(round + 1);
  }
  return times;
}

std::string comparison_text(const CompareOptions& options, const std::vector<NetworkTimes>& times) {
  std::string text = fmt::format("{} rounds in turn; {} steps a run, the first {} not counted\n",
                                 options.rounds, options.steps, options.skip);
  text += fmt::format("{:<12} {:>10}  {:<22} {}\n", "network", "ms a step", "least to most of a run", "set");
  for (const NetworkTimes& network : times) {
    const Spread spread = network.spread();
    text += fmt::format("{:<12} {:>10.2f}  {:<22} {}\n", network.network.name, spread.median,
                        fmt::format("{:.2f} to {:.2f}", spread.least, spread.most), network.network.words());
  }
  const NetworkTimes& first = times.front();
  for (size_t i = 1; i < times.size(); ++i) {
    const Spread ratio = times[i].ratio_to(first);
    text += fmt::format("{}{} takes {:.3f} times as long as {} ({:.3f} to {:.3f})", i == 1 ? "" : "\n",
                        times[i].network.name, ratio.median, first.network.name, ratio.least, ratio.most);
  }
  return text;
}

Json comparison_json(const CompareOptions& options, const std::vector<NetworkTimes>& times) {
  Json networks = Json::array();
  for (const NetworkTimes& network : times) {
    Json environment = Json::object();
    for (const auto& [variable, value] : network.network.environment) environment[variable] = or_null(value);
    networks.push_back({{"name", network.network.name},
                        {"environment", environment},
                        {"step_ms", to_json(network.spread())},
                        {"rounds_step_ms", network.step_ms},
                        {"ratio", to_json(network.ratio_to(times.front()))}});
  }
  return {{"version", 1},
          {"rounds", options.rounds},
          {"steps", options.steps},
          {"skip", options.skip},
          {"networks", networks}};
}

}  // namespace lockstep::bench
