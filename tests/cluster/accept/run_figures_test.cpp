#include "lockstep/cluster/accept/run_figures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lockstep/base/error.h"

namespace lockstep::cluster::accept {
namespace {

std::string step(int number) {
  return fmt::format("{{\"step\": {0}, \"loss\": {0}, \"step_ms\": {0}, \"tokens_per_s\": {0}00}}\n", number);
}

TEST(RunFigures, StepTimesAreTheMedianWithoutTheFirstSteps) {
  ImageMeasurement figures;
  read_steps(step(9) + step(8) + step(1) + step(7) + step(2), /*steps=*/5, /*skipped=*/2, figures);
  EXPECT_EQ(figures.step_ms, 2);
  EXPECT_EQ(figures.tokens_per_s, 200);
  EXPECT_EQ(figures.losses, (std::vector<double>{9, 8, 1, 7, 2}));
  EXPECT_THROW(read_steps(step(1), 2, 0, figures), CommandError) << "a step is missing";
  EXPECT_THROW(read_steps("{\"step\": 1, \"loss\": null}\n", 1, 0, figures), CommandError);
}

TEST(RunFigures, TheAllReduceIsFoundAmongLinesOfOthers) {
  ImageMeasurement figures;
  const std::string report =
      "{\n  \"config\": {\"devices\": [1, 2]},\n  \"tests\": [{\"results\": [{\"size\": 8}, {\"size\": "
      "32}],\n"
      "    \"best_bus_bandwidth\": {\"bandwidth\": 1.5}}]\n}\n";
  read_all_reduce("{ is no document\nNCCL version 2\n" + report + "{\n", figures);
  EXPECT_EQ(figures.ranks, 2);
  EXPECT_EQ(figures.all_reduce_bytes, 32);
  EXPECT_EQ(figures.bus_bandwidth, 1.5);
  EXPECT_THROW(read_all_reduce("no document", figures), CommandError);
  EXPECT_THROW(
      read_all_reduce("{\n\"config\": {\"devices\": []}, \"tests\": [{\"results\": []}]\n}\n", figures),
      CommandError);
  EXPECT_THROW(read_verdict("{\"transport\": 5}", figures), CommandError);
}

}  // namespace
}  // namespace lockstep::cluster::accept
