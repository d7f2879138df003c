#include "lockstep/bench/train_options.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::bench {
namespace {

template <typename Number>
void require_positive(const char* option, Number value) {
  if (value <= 0)
    throw ConfigError(fmt::format("bench: {} is {}: it takes a number from 1 on", option, value));
}

}  // namespace

void TrainOptions::validate() const {
  require_positive("--batch", batch);
  require_positive("--steps", steps);
  require_positive("--num-workers", num_workers);
  if (stand_for) {
    if (*stand_for < 2)
      throw ConfigError(fmt::format("bench: --stand-for is {}: it takes a number from 2 on", *stand_for));
    if (num_workers != 1)
      throw ConfigError(fmt::format(
          "bench: --stand-for {} beside --num-workers {}: the ranks that are stood for are not there; leave "
          "--num-workers out",
          *stand_for, num_workers));
  }
  if (sequence_length < 2) {
    throw ConfigError(fmt::format(
        "bench: --seq is {}: it takes a number from 2 on, since a row's last token predicts nothing",
        sequence_length));
  }
  if (warmup < 0)
    throw ConfigError(fmt::format("bench: --warmup is {}: it takes a number from 0 on", warmup));
  if (floor_ms && *floor_ms <= 0)
    throw ConfigError(fmt::format("bench: --floor is {}: it takes milliseconds, more than 0", *floor_ms));
}

Recipe TrainOptions::recipe() const {
  const Json recipe = {
      {"name", "bench"},
      {"model", {{"source", model}, {"init", "random"}}},
      {"data", {{"source", "random"}, {"sequence_length", sequence_length}}},
      {"train", {{"steps", warmup + steps}, {"global_batch", batch * world_size()}, {"micro_batch", batch}}},
      {"scaling", {{"num_workers", world_size()}}}};
  return Recipe::parse(recipe.dump(), "bench train", overrides);  // JSON is YAML
}

}  // namespace lockstep::bench
