#include "lockstep/bench/compare_networks.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/base/process.h"
#include "tests/base/temporary_folder.h"
#include "tests/paths.h"

namespace lockstep::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CompareOptions fast_and_slow(int rounds) {
  return {.networks = {{"fast", {}}, {"slow", {{"A", "b"}}}}, .rounds = rounds, .steps = 4, .skip = 1};
}

TEST(CompareNetworks, TakesThemInTurnAndCountsWhatFollowsTheFirstSteps) {
  std::vector<std::string> calls;
  const auto times = compare_networks(
      fast_and_slow(3),
      [&](const NetworkChoice& network) -> std::vector<double> {
        calls.push_back(network.name);
        const double ms = network.name == "fast" ? 10 : 20 + static_cast<double>(calls.size());
        return {1000, ms, ms - 1, ms + 1};
      },
      {});
  EXPECT_THAT(calls, ElementsAre("fast", "slow", "slow", "fast", "fast", "slow"));
  EXPECT_THAT(times[0].step_ms, ElementsAre(10, 10, 10));
  EXPECT_THAT(times[1].step_ms, ElementsAre(22, 23, 26));
  const Spread ratio = times[1].ratio_to(times[0]);
  EXPECT_DOUBLE_EQ(ratio.median, 2.3);
  EXPECT_DOUBLE_EQ(ratio.least, 2.2);
  EXPECT_DOUBLE_EQ(ratio.most, 2.6);
  EXPECT_THAT(comparison_text(fast_and_slow(3), times),
              HasSubstr("slow takes 2.300 times as long as fast (2.200 to 2.600)"));
  const Json json = comparison_json(fast_and_slow(3), times);
  EXPECT_EQ(json["networks"][0]["ratio"]["median"], 1.0);
  EXPECT_EQ(json["networks"][1]["environment"]["A"], "b");
}

TEST(CompareNetworks, ARunWithTooFewStepsIsRefused) {
  EXPECT_THROW(
      compare_networks(fast_and_slow(1), [](const NetworkChoice&) { return std::vector<double>{1}; }, {}),
      ConfigError);
  CompareOptions options = fast_and_slow(1);
  options.skip = 4;
  EXPECT_THROW(options.validate(), ConfigError);
}

TEST(Spread, MedianOfAnEvenNumberIsTheMiddle) { EXPECT_EQ(Spread::of({4, 1, 2, 3}).median, 2.5); }

struct Finished {
  int exit_code;
  std::string out, err;
};

Finished bench_transport(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  ProcessOptions options{.argv = {"bash", "-c", "cd '" + source_path() + "' && exec \"$0\" \"$@\"",
                                  build_path("bin/lockstep"), "bench", "transport", "examples/tiny.yaml"},
                         .standard_output = Output::file(folder / "out"),
                         .standard_error = Output::file(folder / "err")};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  const int code = Process::start(options).wait().shell_code();
  return {code, read_file(folder / "out"), read_file(folder / "err")};
}

TEST(BenchTransport, TrainsOverEachNetworkAndPrintsTheRatio) {
  const Finished finished = bench_transport({"--compare", "asis,lo", "--set", "lo:GLOO_SOCKET_IFNAME=lo",
                                             "--rounds", "1", "--steps", "3", "--skip", "1", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["networks"].size(), 2U);
  EXPECT_GT(json["networks"][1]["step_ms"]["median"].get<double>(), 0);
}

TEST(BenchTransport, ANetworkThatTrainingCannotUseIsNamedWithItsError) {
  const Finished finished = bench_transport(
      {"--compare", "none,asis", "--set", "none:GLOO_SOCKET_IFNAME=no-such-interface", "--rounds", "1"});
  EXPECT_EQ(finished.exit_code, 8);
  EXPECT_THAT(finished.err,
              HasSubstr("training over none (GLOO_SOCKET_IFNAME=no-such-interface) ended with exit code"));
}

}  // namespace
}  // namespace lockstep::bench
